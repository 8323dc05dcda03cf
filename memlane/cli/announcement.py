"""What ``memlane up`` says once it is ready."""

import json
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from core.settings import DEFAULT_PORT
from memlane.credentials import token_file
from memlane.model_choice import ModelChoice
from memlane.site import Site

_DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_DEFAULT_HOME = Path("~/.memlane")


@dataclass(frozen=True, slots=True)
class Announcement:
    """Where a started service is and how to use it."""

    site: Site
    url: str
    redis_url: str
    model: ModelChoice

    def as_json(self) -> str:
        """One JSON line for programs; ``tokenFile`` is null when the token was given otherwise."""
        own_token_file = self.site.token_file
        facts = {
            "url": self.url,
            "tokenFile": None if own_token_file is None else str(own_token_file),
            "redisUrl": self.redis_url,
            "pid": os.getpid(),
            "model": self.model.name,
        }
        return json.dumps(facts) + "\n"

    def as_text(self) -> str:
        """A few lines for people, one of them a command to try."""
        settings = self.site.settings
        rows = [("workspace", workspace.path) for workspace in self.site.workspaces]
        rows.append(("memory", str(settings.memory_base)))
        if settings.channels_path.exists():
            rows.append(("channels", f"{settings.channels_path} (memlane ops channels tells how they are)"))
        rows += [
            ("model", self.model.line),
            ("token", str(self.site.token_file or "as given by you; clients read MEMLANE_TOKEN")),
            ("try", self.try_command()),
            ("stop", "Ctrl-C"),
        ]
        if self.model.warning is not None:
            rows.append(("warning", self.model.warning))
        lines = [f"memlane is ready at {self.url}", *(f"  {name:<10} {text}" for name, text in rows)]
        return "\n".join(lines) + "\n"

    def try_command(self) -> str:
        """A shell command that asks for something to be remembered, from any folder on this machine."""
        words = [*_own_program(), "remember", "I like short answers.", "--wait"]
        if self.url != _DEFAULT_URL:
            words += ["--url", self.url]
        own_token_file = self.site.token_file
        if own_token_file not in (None, token_file(_DEFAULT_HOME.expanduser())):
            words += ["--token-file", str(own_token_file)]
        return shlex.join(words)

    def exposure(self) -> str:
        """What a service that other machines can reach exposes to them."""
        count = len(self.site.workspaces)
        return (
            f"memlane: other machines can reach port {urlsplit(self.url).port} on {self.site.settings.host}:"
            f" the whole API and the memory of {count} workspace{'s' if count > 1 else ''}, unencrypted,"
            " guarded by the token only. It answers to its address and to the names in MEMLANE_HOSTS.\n"
        )


def _own_program() -> list[str]:
    """How a shell starts the command line that is installed beside this Python."""
    program = Path(sys.executable).with_name("memlane")
    if not program.exists():
        return [sys.executable, "-m", "memlane"]
    on_path = shutil.which("memlane")
    return ["memlane"] if on_path is not None and Path(on_path).samefile(program) else [str(program)]
