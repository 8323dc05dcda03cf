"""Markdown, as agents write it, in the mark-up of each chat service."""
