"""The worker's side of ACP: child process, connection and typed methods."""
