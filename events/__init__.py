"""The workspace event log on Redis Streams and pub/sub."""
