"""The public face of memlane: Python SDK and command line."""
