"""Markdown memory on disk: documents, index, and a store with transactions."""
