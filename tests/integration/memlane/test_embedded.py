import json
import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from core.errors import ConfigError
from events.connect import connect
from memlane.embedded import EmbeddedRedis, RedisDidNotStart
from memlane.engine import Engine
from memlane.folders import FolderLocked
from tests.support.redis_server import engine_or_skip, running_redis


def test_the_two_databases_are_apart(redis_url, broker_url):
    state, broker = connect(redis_url), connect(broker_url)
    state.set("only-in-state", "1")

    assert broker.get("only-in-state") is None
    state.close()
    broker.close()


def test_the_server_runs_with_the_settings_that_keep_data_safe(redis_url):
    client = connect(redis_url)

    settings = client.config_get("*")

    wanted = {
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "aof-use-rdb-preamble": "no",
        "maxmemory-policy": "noeviction",
        "slowlog-max-len": "0",
    }
    assert {name: settings[name] for name in wanted} == wanted
    client.close()


def test_what_was_written_survives_a_kill(own_redis):
    client = connect(own_redis.state_url)
    client.set("fact", "kept")
    os.kill(own_redis.pid, signal.SIGKILL)

    own_redis.stop()
    own_redis.start()

    assert client.get("fact") == "kept"
    client.close()


def test_a_file_beside_the_data_says_what_runs(tmp_path):
    with running_redis(tmp_path / "redis") as server:
        found = json.loads((tmp_path / "redis" / "server.json").read_text())

        assert found["pid"] == server.pid
        assert found["url"] == server.state_url
        assert found["engine"] in {"redis", "valkey"}
        assert found["version"] == engine_or_skip().version


def test_only_the_owner_can_reach_the_data(tmp_path):
    with running_redis(tmp_path / "redis"):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "redis").iterdir()}

        assert stat.S_IMODE((tmp_path / "redis").stat().st_mode) == 0o700
        assert modes["redis.sock"] == 0o700
        assert modes["server.conf"] == modes["server.json"] == modes["lock"] == 0o600


def test_a_long_path_falls_back_to_a_loopback_port_with_a_password(tmp_path):
    folder = tmp_path / ("long" * 30)
    with running_redis(folder) as server:
        client = connect(server.state_url)
        stranger = connect("redis://" + server.state_url.partition("@")[2])

        assert server.state_url.startswith("redis://:")
        assert client.ping()
        with pytest.raises(redis.AuthenticationError):
            stranger.ping()
        client.close()
        stranger.close()


def test_a_folder_with_an_awkward_name_works(tmp_path):
    with running_redis(tmp_path / 'my "redis" é $(x) \\ folder') as server:
        client = connect(server.broker_url)

        assert client.ping()
        client.close()


def test_a_second_server_on_the_same_folder_is_refused(own_redis, tmp_path):
    with pytest.raises(FolderLocked, match="in use by another memlane"):
        EmbeddedRedis(tmp_path / "own-redis", engine_or_skip(), predecessor_wait_s=0.0)


def test_the_server_ends_with_a_supervisor_that_is_killed(tmp_path):
    engine = engine_or_skip()
    starter = (
        "import sys; from pathlib import Path\n"
        "from memlane.embedded import EmbeddedRedis; from memlane.engine import Engine\n"
        "server = EmbeddedRedis(Path(sys.argv[1]), Engine(Path(sys.argv[2]), 'redis', '9.9.9'))\n"
        "server.start(); print(server.pid, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", starter, str(tmp_path / "redis"), str(engine.binary)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as supervisor:
        assert supervisor.stdout is not None
        server_pidfd = os.pidfd_open(int(supervisor.stdout.readline()))
        supervisor.kill()

    with running_redis(tmp_path / "redis"):  # waits for the lock that the orphan still holds
        ended, _, _ = select.select([server_pidfd], [], [], 0)
        assert ended
    os.close(server_pidfd)


def test_a_server_that_ends_at_once_is_reported_with_its_last_words(tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\necho no luck today\n")
    program.chmod(0o700)
    server = EmbeddedRedis(tmp_path / "redis", Engine(program, "redis", "7.0.0"))

    with pytest.raises(RedisDidNotStart, match="no luck today"):
        server.start()
    assert server.pid == 0
    server.close()


def test_a_server_that_stays_silent_is_stopped(tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\ntrap '' TERM\nexec sleep 60\n")
    program.chmod(0o700)
    server = EmbeddedRedis(tmp_path / "redis", Engine(program, "redis", "7.0.0"))

    with pytest.raises(RedisDidNotStart, match="said nothing"):
        server.start(limit_s=0.2)
    assert server.pid == 0
    server.close()


def test_a_server_that_ignores_sigterm_is_killed(tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\ntrap '' TERM\necho ready\nwhile true; do read _ || sleep 1; done\n")
    program.chmod(0o700)
    server = EmbeddedRedis(tmp_path / "redis", Engine(program, "redis", "7.0.0"))
    process = server.spawn()

    server.stop(grace_s=0.2)

    assert process.returncode is not None
    server.close()


def test_a_file_in_the_place_of_the_folder_is_one_clear_line(tmp_path):
    (tmp_path / "redis").write_text("")

    with pytest.raises(ConfigError, match=r"can't use .*redis: File exists"):
        EmbeddedRedis(tmp_path / "redis", engine_or_skip())


def test_a_log_that_grew_too_long_starts_anew(tmp_path):
    folder = tmp_path / "redis"
    folder.mkdir()
    (folder / "server.log").write_bytes(b"x" * (1024 * 1024 + 1))

    with running_redis(folder):
        assert (folder / "server.log").stat().st_size < 1024 * 1024
