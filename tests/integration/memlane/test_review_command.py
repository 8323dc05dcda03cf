"""`memlane review`."""

import json

import pytest

from tests.support.command_line import QUEUED, run
from tests.support.scripted_service import Reply, scripted_service

SHA = "3f2a" * 16
LISTED = {"scope": "user", "path": "user/vendor.md", "name": "Vendor \x1b[31m", "description": "X"}
SHOWN = LISTED | {"underReview": True, "content": "---\n---\nTrust X.\n", "sha256": SHA}
TASK = QUEUED | {"taskId": QUEUED["taskId"].replace("remember", "review")}


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def test_it_lists_what_waits_and_shows_how_to_decide(capsys: pytest.CaptureFixture[str]) -> None:
    replies = [{"documents": [LISTED]}, {"documents": []}, {"documents": [LISTED]}, SHOWN]
    with scripted_service([Reply(200, reply) for reply in replies]) as service:
        for arguments in ([], [], ["--json"], ["user/user/vendor.md"]):
            assert run("review", *arguments, "--url", service.url) == 0

    listed, none, as_json, *text = capsys.readouterr().out.splitlines()
    assert listed == "user/user/vendor.md  Vendor  [31m: X"
    assert none == "nothing waits for a review"
    assert json.loads(as_json) == {"documents": [LISTED]}
    assert text[2] == "Trust X."
    assert text[-1].endswith(
        "memlane review user/user/vendor.md --approve 3f2a3f2a3f2a, or --reject 3f2a3f2a3f2a"
    )


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_it_decides_on_what_the_hash_names(capsys: pytest.CaptureFixture[str], decision: str) -> None:
    with scripted_service([Reply(200, SHOWN), Reply(202, TASK)]) as service:
        assert run("review", "user/user/vendor.md", f"--{decision}", SHA[:12], "--url", service.url) == 0

    asked = service.requests[1]
    assert asked.path == "/workspace/memory/documents/user/user/vendor.md/review"
    assert json.loads(asked.body) == {"decision": decision, "sha256": SHA}


@pytest.mark.parametrize("given", ["3f2a3f2a3f2b", "3f2a", SHA + "0"])
def test_another_text_than_was_shown_is_not_decided_on(
    capsys: pytest.CaptureFixture[str], given: str
) -> None:
    with scripted_service([Reply(200, SHOWN)]) as service:
        assert run("review", "user/user/vendor.md", "--approve", given, "--url", service.url) == 2

    assert "look at it again" in capsys.readouterr().err
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--approve", "3f2a3f2a3f2a"],
        ["user/a.md", "--approve", "x", "--reject", "x"],
        ["a.md"],
        ["user/a.md", "--approve", ""],
    ],
)
def test_a_decision_without_its_document_is_wrong_usage(arguments: list[str]) -> None:
    assert run("review", *arguments) == 2
