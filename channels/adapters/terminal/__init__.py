"""A chat with one person at a terminal."""
