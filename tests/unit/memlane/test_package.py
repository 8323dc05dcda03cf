import subprocess
import sys

import pytest

import memlane


def test_the_clients_are_offered_by_the_package():
    from memlane.aclient import AsyncClient
    from memlane.client import Client

    assert (memlane.Client, memlane.AsyncClient) == (Client, AsyncClient)


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Server'"):
        memlane.Server  # noqa: B018 - reading it is the test


def test_importing_the_package_loads_no_http_library():
    script = "import sys, memlane; print(sorted({'httpx2', 'pydantic'} & set(sys.modules)))"

    answer = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)

    assert answer.stdout == "[]\n"


def test_an_agent_child_loads_no_command_line_library():
    script = (
        "import sys\nfrom memlane.__main__ import main\nmain(['agent'])\n"
        "print(sorted({'typer', 'redis', 'flask', 'httpx2', 'openai'} & set(sys.modules)), file=sys.stderr)"
    )

    answer = subprocess.run(
        [sys.executable, "-P", "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stderr.splitlines()[-1] == "[]"
