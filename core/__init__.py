"""Words and rules that every package shares; imports nothing of ours."""
