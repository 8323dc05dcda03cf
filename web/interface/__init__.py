"""Descriptions of the interface for programs, made from the routes and models that serve it."""
