"""The error tree that every package shares.

A leaf names the condition, carries its facts as fields and has a stable ``code``.
Errors are translated once at each border (HTTP, ACP, command line), never in between.
"""

from typing import ClassVar


class MemlaneError(Exception):
    """Base of every error that memlane raises on purpose."""

    code: ClassVar[str] = "internal"


class InputError(MemlaneError):
    """The caller asked for something that can't be done as asked; asking again won't help."""

    code: ClassVar[str] = "invalid_request"


class StateError(MemlaneError):
    """The request was fine, the moment was not."""

    code: ClassVar[str] = "wrong_state"


class DependencyError(MemlaneError):
    """Something outside failed (Redis, a child process, a model); the same call may succeed later."""

    code: ClassVar[str] = "dependency_failed"


class ConfigError(InputError):
    """A setting, path or port does not allow the process to start. The message is one line for a person."""

    code: ClassVar[str] = "config_invalid"
