"""Sessions of ACP: a person, or a channel, asks about memory; nothing here changes it."""
