"""The ACP child: a headless agent that edits memory through scoped tools."""
