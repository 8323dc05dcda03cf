"""What ``memlane up`` says once it is ready."""

import json
import os
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from memlane.site import Site


@dataclass(frozen=True, slots=True)
class Announcement:
    """Where a started service is and how to use it."""

    site: Site
    url: str
    redis_url: str

    def as_json(self) -> str:
        """One JSON line for programs; ``tokenFile`` is null when the token was given otherwise."""
        token_file = self.site.token_file
        facts = {
            "url": self.url,
            "tokenFile": None if token_file is None else str(token_file),
            "redisUrl": self.redis_url,
            "pid": os.getpid(),
        }
        return json.dumps(facts) + "\n"

    def as_text(self) -> str:
        """A few lines for people, one of them a command to try."""
        served = "\n".join(f"  workspace  {workspace.path}" for workspace in self.site.workspaces)
        return (
            f"memlane is ready at {self.url}\n{served}\n"
            f"  memory     {self.site.settings.memory_base}\n"
            f"  token      {self.site.token_file or 'as given by you'}\n"
            f"  try        {self.curl()}\n"
            "  stop       Ctrl-C\n"
        )

    def curl(self) -> str:
        """A shell command that asks for something to be remembered."""
        token_file = self.site.token_file
        token = '"$MEMLANE_TOKEN"' if token_file is None else f'"$(cat {shlex.quote(str(token_file))})"'
        body = shlex.quote('{"content":"I like short answers."}')
        return (
            f"curl -sS -H 'Content-Type: application/json' -H 'Authorization: Bearer '{token}"
            f" -d {body} {self.url}/workspace/memory/remember"
        )

    def exposure(self) -> str:
        """What a service that other machines can reach exposes to them."""
        count = len(self.site.workspaces)
        return (
            f"memlane: other machines can reach port {urlsplit(self.url).port} on {self.site.settings.host}:"
            f" the whole API and the memory of {count} workspace{'s' if count > 1 else ''}, unencrypted,"
            " guarded by the token only. It answers to its address and to the names in MEMLANE_HOSTS.\n"
        )
