"""Chat channels: who may talk to an agent, in which session, and what becomes of each turn."""
