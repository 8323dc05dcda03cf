"""The memlane command line; each process is composed in one place here."""
