"""The SDK without an event loop, made from `memlane.asynchronous` by `./dev fmt`."""
