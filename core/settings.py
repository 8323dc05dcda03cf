"""Settings of every process: the only place that reads the environment.

Each field is an environment variable ``MEMLANE_<NAME>``, unless it names another one; command line
options override it.
"""

import os
import shlex
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from core.durations import parse_duration
from core.errors import ConfigError

DEFAULT_PORT = 4170
DEFAULT_MEMORY_BASE = Path("~/.qwen")
FOR_EVER = "forever"

_S = TypeVar("_S", bound=BaseSettings)


class Settings(BaseSettings):
    """What a memlane process is told from outside.

    Attributes:
        home: state of the service (token, embedded Redis, logs), mode 0700.
        run_dir: folder of this host for lock files, on a tmpfs; unset means that one is looked for.
        session_run_dir: the login session's folder for such things, looked at next.
        workspaces: directories served, first one primary; separated by ``:`` in the environment.
        memory_dir: memory base; wins over ``shared_memory_dir``, see ``memory_base``.
        shared_memory_dir: memory base as other tools are told of it.
        memory_local: whether project memory lives inside each workspace.
        hosts: further names allowed in ``Host``, beside loopback and the bound address.
        tokens_file: named tokens beside ``token``, see ``tokens_path``.
        channels_file: chat channels that are served, see ``channels_path``.
        rate_limit: requests a minute that a token may send beside reading; 0 means as many as it likes, unset
            that the owner's token may and named ones have the service's own limit.
        redis_url: state database; unset means the embedded server.
        broker_url: dramatiq's database; db 1 of the same server unless set.
        deployment: first part of lane ids, so that two services on one memory base keep apart; unset means a
            name that the state database keeps.
        store_id: memory store that has to lie in the memory base; unset means any, made if missing.
        agent_command: command of the agent child; unset means our own.
        agent_timeout_s: seconds that a foreign agent child has for a task; ours keeps its own time.
        agent_idle_s: seconds after which a child without work is stopped.
        chat_idle_s: the same of a child that answers chats, which forgets by that what was said in them.
        threads: lanes that one worker runs at once.
        lane_batch: most tasks of one lane in a row, while each is short or no other lane waits.
        max_attempts: runs of a task whose worker died, the first included.
        lease_ms, renew_ms, margin_ms: lease life, renewal period, and how long before its end a holder stops.
        sweep_ms: period of the sweeper; it bounds how late a lost doorbell is noticed.
        task_ttl_s: life of a record after its end.
        input_keep_s: life of a task's input after its end.
        history_keep: how long revisions can be shown and taken back; None means for ever. The git history
            shows them all.
        dream_every: least time between dreams that nobody asked for; unset means that there are none.
        dream_min_changes: least number of commits between them.
        policy_file: what agents may do in which workspace, see ``core.policies``; unset means the defaults.
        max_waiting_lanes, max_wait_s: how far workers may be behind before idle lanes are refused.
        redis_check: ``refuse`` to start on a Redis that may lose accepted tasks, or only ``warn``.
        adopt_store: let lanes that ran on another memory store go on with this one.
        drain_s: how long a stopping worker lets running tasks finish.
    """

    model_config = SettingsConfigDict(
        env_prefix="MEMLANE_", env_ignore_empty=True, extra="ignore", validate_default=True, frozen=True
    )

    home: Path = Path("~/.memlane")
    run_dir: Path | None = None
    session_run_dir: Annotated[Path | None, Field(validation_alias="XDG_RUNTIME_DIR")] = None
    workspaces: Annotated[tuple[str, ...], NoDecode] = ()
    memory_dir: Path | None = None
    shared_memory_dir: Annotated[Path | None, Field(validation_alias="QWEN_CODE_MEMORY_BASE_DIR")] = None
    memory_local: Annotated[bool, Field(validation_alias="QWEN_CODE_MEMORY_LOCAL")] = False
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = DEFAULT_PORT
    hosts: Annotated[tuple[str, ...], NoDecode] = ()
    token: SecretStr | None = None
    tokens_file: Path | None = None
    channels_file: Path | None = None
    rate_limit: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    redis_url: str | None = None
    redis_bin: Path | None = None
    broker_url: str | None = None
    deployment: Annotated[str | None, Field(pattern=r"\A[A-Za-z0-9._-]{1,64}\z")] = None
    store_id: str | None = None
    agent_command: Annotated[tuple[str, ...], NoDecode] = ()
    agent_timeout_s: Annotated[float, Field(gt=0, le=300)] = 300.0
    agent_idle_s: Annotated[float, Field(gt=0)] = 600.0
    chat_idle_s: Annotated[float, Field(gt=0)] = 86_400.0
    threads: Annotated[int, Field(ge=1, le=256)] = 8
    lane_batch: Annotated[int, Field(ge=1, le=1000)] = 64
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 2
    lease_ms: Annotated[int, Field(ge=500)] = 8_000
    renew_ms: Annotated[int, Field(ge=50)] = 2_000
    margin_ms: Annotated[int, Field(ge=50)] = 1_500
    sweep_ms: Annotated[int, Field(ge=50)] = 1_000
    task_ttl_s: Annotated[int, Field(ge=1)] = 86_400
    input_keep_s: Annotated[int, Field(ge=1)] = 3_600
    history_keep: Annotated[timedelta | None, Field(ge=timedelta(hours=1))] = timedelta(days=90)
    dream_every: Annotated[timedelta | None, Field(ge=timedelta(minutes=1))] = None
    dream_min_changes: Annotated[int, Field(ge=1)] = 5
    policy_file: Path | None = None
    max_waiting_lanes: Annotated[int, Field(ge=1)] = 5_000
    max_wait_s: Annotated[int, Field(ge=1)] = 600
    adopt_store: bool = False
    redis_check: Literal["refuse", "warn"] = "refuse"
    drain_s: Annotated[float, Field(ge=0)] = 25.0
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("workspaces", "hosts", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        return tuple(part for part in value.split(os.pathsep) if part) if isinstance(value, str) else value

    @field_validator("agent_command", mode="before")
    @classmethod
    def _split_command(cls, value: Any) -> Any:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    @field_validator("shared_memory_dir", "session_run_dir", mode="before")
    @classmethod
    def _skip_empty(cls, value: Any) -> Any:
        return value or None

    @field_validator("history_keep", mode="before")
    @classmethod
    def _read_for_ever(cls, value: Any) -> Any:
        return None if value == FOR_EVER else value

    @field_validator("dream_every", "history_keep", mode="before")
    @classmethod
    def _read_duration(cls, value: Any) -> Any:
        duration = parse_duration(value) if isinstance(value, str) else None
        return value if duration is None else duration

    @field_validator("store_id", mode="before")
    @classmethod
    def _read_store_id(cls, value: Any) -> Any:
        return str(UUID(value)) if value else None

    @field_validator("memory_local", mode="before")
    @classmethod
    def _read_switch(cls, value: Any) -> bool:
        return value is True or value == "1"  # as the reference reads it

    @field_validator(
        *("home", "run_dir", "memory_dir", "shared_memory_dir", "redis_bin", "policy_file"),
        *("tokens_file", "channels_file"),
    )
    @classmethod
    def _expand(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value is not None else None

    @model_validator(mode="after")
    def _check_lease(self) -> "Settings":
        if self.renew_ms * 2 + self.margin_ms > self.lease_ms:
            raise ValueError("lease_ms must leave room for two renewals and the margin")
        return self

    @model_validator(mode="after")
    def _check_dreams(self) -> "Settings":
        # the last dream is known by its record
        if self.dream_every is not None and self.dream_every.total_seconds() > self.task_ttl_s:
            raise ValueError("dream_every must not be longer than task_ttl_s")
        return self

    @property
    def state(self) -> str:
        """URL of the state database.

        Raises:
            ConfigError: none is configured.
        """
        if self.redis_url is None:
            raise ConfigError("no Redis is configured; set MEMLANE_REDIS_URL or use `memlane up`")
        return self.redis_url

    @property
    def broker(self) -> str:
        """URL of dramatiq's database: db 1 of the same server unless one is configured.

        Raises:
            ConfigError: no Redis is configured.
        """
        return self.broker_url or _with_database(self.state, 1)

    @property
    def history_keep_ms(self) -> int | None:
        """How long commits keep their texts, milliseconds: no less than a record's life; None for ever."""
        if self.history_keep is None:
            return None
        # a task that is asked for again is answered from its commit, so that must not go first
        return max(int(self.history_keep.total_seconds()), self.task_ttl_s) * 1000

    @property
    def tokens_path(self) -> Path:
        """Where named tokens are kept, if there are any: ``tokens.json`` in the home unless configured."""
        return self.tokens_file or self.home / "tokens.json"

    @property
    def channels_path(self) -> Path:
        """Where chat channels are configured, if there are any: ``channels.json`` in the home by default."""
        return self.channels_file or self.home / "channels.json"

    @property
    def memory_base(self) -> Path:
        """The folder that memory roots and the store live below; ``~/.qwen`` unless one is configured."""
        return self.memory_dir or self.shared_memory_dir or DEFAULT_MEMORY_BASE.expanduser().absolute()

    @property
    def memory_is_default(self) -> bool:
        """Whether no memory base is configured, so that the default one is used."""
        return self.memory_dir is None and self.shared_memory_dir is None


class ModelSettings(BaseSettings):
    """Which language model the agent child talks to; no URL and no key means the offline model.

    Attributes:
        model_timeout_s: limit of one model request, connect to last byte, seconds.
        fast_model: model of the same server for the selection of a forget; unset means the same model.
    """

    model_config = SettingsConfigDict(extra="ignore", frozen=True, protected_namespaces=())

    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_model: str | None = None
    model_timeout_s: Annotated[float, Field(gt=0, alias="MEMLANE_MODEL_TIMEOUT_S")] = 120.0
    fast_model: Annotated[str | None, Field(alias="MEMLANE_FAST_MODEL")] = None

    @property
    def offline(self) -> bool:
        """Whether no model is configured."""
        return not (self.openai_model and (self.openai_api_key or self.openai_base_url))


def _with_database(url: str, number: int) -> str:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        query = [(name, value) for name, value in parse_qsl(parts.query) if name != "db"]
        return f"unix://{parts.path}?{urlencode([*query, ('db', str(number))])}"
    return urlunsplit(parts._replace(path=f"/{number}"))


def load_settings(**overrides: Any) -> Settings:
    """Read settings from the environment; ``overrides`` that are not None win.

    Raises:
        ConfigError: a value is out of range; the message names the variable, never the value of a secret.
    """
    return _load(Settings, {name: value for name, value in overrides.items() if value not in (None, ())})


class ClientSettings(BaseSettings):
    """Where the SDK and the command line find the service.

    Attributes:
        url: base URL of the service.
        token: bearer token; wins over the file ``token`` in ``home``.
    """

    model_config = SettingsConfigDict(env_prefix="MEMLANE_", extra="ignore", frozen=True)

    url: str = f"http://127.0.0.1:{DEFAULT_PORT}"
    token: SecretStr | None = None
    home: Path = Path("~/.memlane")


def load_model_settings() -> ModelSettings:
    """Read the model's settings from the environment.

    Raises:
        ConfigError: as for ``load_settings``.
    """
    return _load(ModelSettings, {})


def load_client_settings() -> ClientSettings:
    """Read the client's settings from the environment.

    Raises:
        ConfigError: as for ``load_settings``.
    """
    return _load(ClientSettings, {})


def _load(kind: type[_S], given: Mapping[str, Any]) -> _S:
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ConfigError(f"{_variable(kind, first['loc'])}: {first['msg']}") from None


def _variable(kind: type[BaseSettings], place: tuple[int | str, ...]) -> str:
    """Name of the environment variable that a complaint is about; a field with an alias goes by that."""
    name = "_".join(map(str, place))
    return name if name.isupper() else f"{kind.model_config.get('env_prefix', '')}{name}".rstrip("_").upper()


def changed_environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Copy this process's environment for a child, with ``changes`` applied; None leaves a variable out."""
    merged: dict[str, str | None] = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def export_engine_settings() -> None:
    """Set what dramatiq reads from its environment when it is imported; call before that.

    The restart delay is how long its consumers stay away after an outage or a pause, milliseconds.
    """
    os.environ.setdefault("dramatiq_restart_delay", "500")


def wants_colour() -> bool:
    """Whether text on a terminal may be coloured: not with ``NO_COLOR`` (no-color.org), nor on a dumb one."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
