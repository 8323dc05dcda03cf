"""Programs that `./dev` runs on the sources."""
