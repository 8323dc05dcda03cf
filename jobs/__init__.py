"""Serial lanes per workspace on Redis, run by dramatiq workers."""
