"""Strangers who ask to talk to the agent, until somebody lets them in."""

import fcntl
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from channels.errors import PairingNotKept
from channels.sanitizing import sender_name as shown_name
from core import clock
from core.ids import new_code, workspace_id

CODE_CHARACTERS = 8
LIFE_MS = 3_600_000
MAX_PENDING = 3

_TOO_MANY = "There are too many pending requests here already. Please try again in an hour."
_IN_PRIVATE = "I don't know you yet. Write to me in a private chat to get a pairing code."


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """Somebody who waits to be let in.

    Attributes:
        asked_ms: epoch milliseconds.
    """

    code: str
    sender_id: str
    sender_name: str
    asked_ms: int

    @property
    def is_live(self) -> bool:
        """Whether its code still opens anything; not for long either when the clock was set back."""
        return abs(clock.wall_ms() - self.asked_ms) < LIFE_MS


class PairingStore:
    """Two files of a channel, shared by all processes of this host; one that can't be read is empty.

    What is written is on disk before a method returns. Where that is not possible ``PairingNotKept`` is
    raised, and the files are as they were.
    """

    def __init__(self, folder: Path, *, workspace: str, channel: str) -> None:
        """Name the files; they are made when first written.

        Args:
            workspace: canonical path; channels of the same name in two of them have nothing in common.
        """
        self._channel = channel
        self._folder = folder
        self._name = f"{workspace_id(workspace)}-{quote(channel, safe='')}"

    def is_approved(self, sender_id: str) -> bool:
        """Whether somebody let them in."""
        return sender_id in self.approved()

    def approved(self) -> tuple[str, ...]:
        """Everybody who was let in."""
        found = self._read("approved").get("senders", [])
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()

    def pending(self) -> tuple[PairingRequest, ...]:
        """Who waits, the first one first."""
        found = self._read("pending").get("requests", [])
        requests = (_request_in(one) for one in found) if isinstance(found, list) else ()
        return tuple(one for one in requests if one is not None and one.is_live)

    def invite(self, sender_id: str, *, sender_name: str, is_group: bool) -> str:
        """Note that somebody asks, and say what to answer them; no code is told where others read it."""
        if is_group:
            return _IN_PRIVATE
        request = self.request(sender_id, sender_name=sender_name)
        if request is None:
            return _TOO_MANY
        return (
            f"I don't know you yet. Your pairing code is {request.code}. Ask the operator to run: "
            f"memlane channel pairing approve {shlex.quote(self._channel)} {request.code}"
        )

    def request(self, sender_id: str, *, sender_name: str) -> PairingRequest | None:
        """Note that somebody asks; who asks again has the same request. None when too many wait."""
        with self._locked():
            waiting = self.pending()
            known = next((one for one in waiting if one.sender_id == sender_id), None)
            if known is not None or len(waiting) >= MAX_PENDING:
                return known
            code, name = new_code(CODE_CHARACTERS), shown_name(sender_name)
            request = PairingRequest(code, sender_id, name, clock.wall_ms())
            self._write("pending", {"requests": [asdict(one) for one in (*waiting, request)]})
            return request

    def approve(self, code: str) -> PairingRequest | None:
        """Let somebody in; None when no live request has this code, whose case does not matter."""
        with self._locked():
            waiting = self.pending()
            found = next((one for one in waiting if one.code == code.strip().upper()), None)
            if found is None:
                return None
            senders = [*self.approved(), found.sender_id]
            self._write("approved", {"senders": sorted(set(senders))})
            self._write("pending", {"requests": [asdict(one) for one in waiting if one != found]})
            return found

    def revoke(self, sender_id: str) -> bool:
        """Let somebody in no more; tells whether they were. What they said already is handled."""
        with self._locked():
            senders = self.approved()
            self._write("approved", {"senders": [one for one in senders if one != sender_id]})
            return sender_id in senders

    def _path(self, kind: str) -> Path:
        return self._folder / f"{self._name}.{kind}.json"

    def _read(self, kind: str) -> Mapping[str, Any]:
        try:
            found = json.loads(self._path(kind).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, kind: str, content: Mapping[str, Any]) -> None:
        path = self._path(kind)
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        fresh.touch(0o600)
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())  # else a loss of power may leave an empty file, which lets nobody in
        fresh.replace(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)
        except OSError as error:
            raise PairingNotKept(f"requests for pairing can't be kept: {error.strerror}") from error


def _request_in(found: object) -> PairingRequest | None:
    match found:
        case {
            "code": str(code),
            "sender_id": str(sender_id),
            "sender_name": str(name),
            "asked_ms": int(asked_ms),
        }:
            return PairingRequest(code, sender_id, name, asked_ms)
    return None
