"""Chat sessions of agent children: what a channel asks of an agent."""
