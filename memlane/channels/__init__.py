"""The process that serves chat channels, put together."""
