"""The commands that Telegram shows people in its menu."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("help", "what can be asked"),
    ("clear", "start anew"),
    ("who", "who and where the agent is"),
    ("status", "the state of this session"),
    ("cancel", "stop the request that runs"),
)
