"""Adapters: what a chat service says and takes, in the words of the base."""
