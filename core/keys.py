"""Every Redis key and channel name, built in one place.

All keys of a lane share the hash tag of its partition, so that each script is legal on a
Redis Cluster and the partition's ``due`` index changes in the same script as the lane.
"""

import binascii
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from core.ids import ClientSessionId, TaskId, WorkspaceId

SCHEMA = "memlane:1"
PARTITIONS = 64  # fixed for ever: another value would look for lanes where they are not

CONFIG = f"{SCHEMA}:config"
WORKERS = f"{SCHEMA}:workers"
LOAD = f"{SCHEMA}:load"
DOORBELL_CHANNEL = f"{SCHEMA}:doorbell"
CONTROL_CHANNEL = f"{SCHEMA}:control"


def worker(worker_id: str) -> str:
    """Hash of one live worker process."""
    return f"{SCHEMA}:worker:{worker_id}"


def rate(caller: str) -> str:
    """Text: when the bucket of a caller's requests is full again."""
    return f"{SCHEMA}:rate:{{{caller}}}"


def audit(outcome: str) -> str:
    """Stream of acts that came out one way."""
    return f"{SCHEMA}:audit:{outcome}"


def private_channel(name: str) -> str:
    """Pub/sub channel by which a process talks to its own subscriber."""
    return f"{SCHEMA}:private:{name}"


def partition_of(workspace: WorkspaceId) -> int:
    """Number of the partition that holds this workspace's lane, 0 to 63."""
    return binascii.crc_hqx(workspace.encode(), 0) % PARTITIONS


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """Keys that the lanes of one partition share."""

    number: int

    @property
    def prefix(self) -> str:
        """Common start of the partition's keys, hash tag included."""
        return f"{SCHEMA}:{{p{self.number:03d}}}"

    @property
    def due(self) -> str:
        """Sorted set: workspace id to the time (ms) at which its lane needs attention."""
        return f"{self.prefix}:due"

    @property
    def wait(self) -> str:
        """Sorted set: workspace id to the time (ms) since which its lane waits for a worker."""
        return f"{self.prefix}:wait"

    @property
    def stats(self) -> str:
        """Hash of counters by kind, outcome and code."""
        return f"{self.prefix}:stats"


@dataclass(frozen=True)
class LaneKeys:
    """Keys and channels of one workspace's lane."""

    workspace: WorkspaceId

    @cached_property
    def partition(self) -> PartitionKeys:
        """Keys of the partition that the lane lies in."""
        return PartitionKeys(partition_of(self.workspace))

    @cached_property
    def base(self) -> str:
        """Common start of the lane's keys."""
        return f"{self.partition.prefix}:{self.workspace}"

    @property
    def lane(self) -> str:
        """Hash of the lane's state."""
        return f"{self.base}:lane"

    @property
    def pending(self) -> str:
        """List of queued tasks, head left, elements ``<kind>:<accepted ms>:<task id>``."""
        return f"{self.base}:pending"

    @property
    def index(self) -> str:
        """Sorted set: task id to sequence number, all records."""
        return f"{self.base}:index"

    @property
    def done(self) -> str:
        """Sorted set: task id to the time (ms) at which it ended."""
        return f"{self.base}:done"

    @property
    def events(self) -> str:
        """Stream of the workspace's events, ids ``<n>-0``."""
        return f"{self.base}:events"

    @property
    def channel(self) -> str:
        """Pub/sub channel that says: the stream has grown."""
        return f"{self.base}:events:bell"

    @property
    def asides(self) -> str:
        """Pub/sub channel of events that are in no log."""
        return f"{self.base}:events:asides"

    @property
    def availability(self) -> str:
        """Hash: worker id to ``<yes|no>:<expiry ms>``."""
        return f"{self.base}:availability"

    def task(self, task: TaskId) -> str:
        """Hash of one task record."""
        return f"{self.base}:task:{task}"

    def idempotency(self, key_digest: str) -> str:
        """Hash that remembers which task an idempotency key made."""
        return f"{self.base}:idempotency:{key_digest}"

    @property
    def single_session(self) -> str:
        """Id of the session that clients share unless they ask for their own."""
        return f"{self.base}:single-session"

    def client(self, client: str) -> str:
        """Who registered a client id: the name of a token."""
        return f"{self.base}:client:{client}"

    def session(self, session: ClientSessionId) -> str:
        """Hash of one client session."""
        return f"{self.base}:session:{session}"

    def session_clients(self, session: ClientSessionId) -> str:
        """Sorted set: client id to the time (ms) at which it last used the session."""
        return f"{self.session(session)}:clients"

    def session_streams(self, session: ClientSessionId) -> str:
        """Sorted set: id of an open stream to the time (ms) until which it has its place."""
        return f"{self.session(session)}:streams"

    def input(self, task: TaskId) -> str:
        """JSON text of a task's request; expires some time after the task's end."""
        return f"{self.base}:in:{task}"


@dataclass(frozen=True, slots=True)
class ChannelKeys:
    """Keys of one chat channel; all of them share a hash tag."""

    workspace: WorkspaceId
    channel: str

    @property
    def base(self) -> str:
        """Common start of the channel's keys; its name is escaped."""
        return f"{SCHEMA}:{{channel:{self.workspace}:{quote(self.channel, safe='')}}}"

    @property
    def lease(self) -> str:
        """Hash: which process serves the channel, and until when."""
        return f"{self.base}:lease"

    @property
    def inbox(self) -> str:
        """Stream of messages that are not done with."""
        return f"{self.base}:inbox"

    @property
    def seen(self) -> str:
        """Sorted set: digest of a key by which a message is known again, to when it came."""
        return f"{self.base}:seen"

    @property
    def turns(self) -> str:
        """Sorted set: turns that have not ended, to when they began."""
        return f"{self.base}:turns"

    @property
    def outbox(self) -> str:
        """Sorted set: messages that have not been sent, to their number."""
        return f"{self.base}:outbox"

    @property
    def routes(self) -> str:
        """JSON text: which session serves whom."""
        return f"{self.base}:routes"

    def turn(self, turn_id: str) -> str:
        """Hash of one turn."""
        return f"{self.base}:turn:{turn_id}"

    def part(self, key: str) -> str:
        """Hash of one message on its way out."""
        return f"{self.base}:part:{key}"
