"""One module a command: its options and its help; the work is imported when it runs."""
