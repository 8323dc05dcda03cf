"""What a chat channel keeps in Redis: messages in and out, turns, routes, and who serves it."""
