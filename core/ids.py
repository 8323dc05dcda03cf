"""Ids: how they are made, what shape they have."""

import hashlib
import re
import secrets
import uuid
from typing import Literal, NewType, get_args

TaskId = NewType("TaskId", str)
WorkspaceId = NewType("WorkspaceId", str)
LaneId = NewType("LaneId", str)
ClientId = NewType("ClientId", str)
ClaimId = NewType("ClaimId", str)
SessionId = NewType("SessionId", str)
ClientSessionId = NewType("ClientSessionId", str)

Kind = Literal["remember", "forget", "dream", "undo", "import", "review"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TASK_ID_PATTERN = f"({'|'.join(KINDS)})-{_UUID4}"
WORKSPACE_ID_PATTERN = "[0-9a-f]{16}"

_CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

_TASK_ID = re.compile(TASK_ID_PATTERN)
_WORKSPACE_ID = re.compile(WORKSPACE_ID_PATTERN)
_CLIENT_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CLIENT_SESSION_ID = re.compile(
    r"(?P<a>[0-9a-f]{8})-(?P<b>[0-9a-f]{4})-4(?P<c>[0-9a-f]{3})-[89ab](?P<d>[0-9a-f])[0-9a-f]{2}-[0-9a-f]{12}"
)


def new_task_id(kind: Kind) -> TaskId:
    """Make a fresh task id: the kind, a hyphen, a version 4 UUID."""
    return TaskId(f"{kind}-{uuid.uuid4()}")


def is_task_id(text: str, kind: Kind) -> bool:
    """Tell whether ``text`` has the shape of a task id of this kind."""
    return text.startswith(f"{kind}-") and _TASK_ID.fullmatch(text) is not None


def kind_of(task_id: str) -> Kind | None:
    """The kind that a task id names; None when it has not the shape of one."""
    kind = task_id.partition("-")[0]
    return next((known for known in KINDS if known == kind and is_task_id(task_id, known)), None)


def is_client_id(text: str) -> bool:
    """Tell whether ``text`` is a well-formed client id (1 to 128 of ``[A-Za-z0-9._:-]``)."""
    return _CLIENT_ID.fullmatch(text) is not None


def new_client_id() -> ClientId:
    """Make a fresh client id: ``client_`` and a version 4 UUID."""
    return ClientId(f"client_{uuid.uuid4()}")


def workspace_id(canonical_path: str) -> WorkspaceId:
    """Derive a workspace's id: the first 16 hex digits of the SHA-256 of its canonical path."""
    return WorkspaceId(hashlib.sha256(canonical_path.encode("utf-8", "surrogateescape")).hexdigest()[:16])


def is_workspace_id(text: str) -> bool:
    """Tell whether ``text`` has the shape of a workspace's id."""
    return _WORKSPACE_ID.fullmatch(text) is not None


def lane_id(deployment: str, workspace: WorkspaceId) -> LaneId:
    """Name the lane of a workspace as the memory store knows it: ``<deployment>/<workspace id>``."""
    return LaneId(f"{deployment}/{workspace}")


def new_session_id() -> SessionId:
    """Make a fresh id of a chat session: ``session-`` and a version 4 UUID."""
    return SessionId(f"session-{uuid.uuid4()}")


def new_client_session_id(workspace: WorkspaceId) -> ClientSessionId:
    """Make a fresh id of a client session: a UUID that holds its workspace's id.

    So whoever serves a path that names only the session knows where its keys lie. The 58 bits that are left
    are random; the id opens nothing by itself. It has the form of version 4 although version 8 is the one
    for such (RFC 9562, 5.8): clients of the contract know versions 1 to 5 only.
    """
    random = str(uuid.uuid4())
    head = f"{workspace[:8]}-{workspace[8:12]}-4{workspace[12:15]}"
    return ClientSessionId(f"{head}-{random[19]}{workspace[15]}{random[21:]}")


def workspace_of_client_session(text: str) -> WorkspaceId | None:
    """The workspace that the id of a client session names; None for what can't be one."""
    found = _CLIENT_SESSION_ID.fullmatch(text)
    return WorkspaceId("".join(found.group("a", "b", "c", "d"))) if found else None


def workspace_of(lane: LaneId) -> WorkspaceId:
    """The workspace whose lane this is, whichever the deployment."""
    return WorkspaceId(lane.rpartition("/")[2])


def deployment_of(lane: LaneId) -> str:
    """The deployment whose lane this is."""
    return lane.rpartition("/")[0]


def new_code(length: int) -> str:
    """Make a code that people read and type, of so many letters and digits that are not mistaken for others.

    Drawn so that nobody can guess it from earlier ones.
    """
    return "".join(secrets.choice(_CODE_ALPHABET) for _ in range(length))


def new_uuid() -> str:
    """Make a random UUID string."""
    return str(uuid.uuid4())
