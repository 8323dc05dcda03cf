"""Other task queues, each a no-op app, to be run in an environment of their own, without our packages."""
