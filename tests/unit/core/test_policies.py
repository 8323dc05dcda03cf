from pathlib import Path

import pytest

from core.errors import ConfigError
from core.policies import Policy, load_policies


def written(folder: Path, text: str) -> Path:
    file = folder / "policies.toml"
    file.write_text(text)
    return file


def test_without_a_file_the_defaults_hold_everywhere():
    policy = load_policies(None).of("/srv/ws")

    assert policy == Policy()
    assert (policy.secrets, policy.quarantine, policy.scopes) == (
        "reject",
        False,
        frozenset({"user", "project"}),
    )


def test_a_workspace_says_only_what_is_different(tmp_path: Path):
    policies = load_policies(
        written(
            tmp_path,
            """
            [default]
            secrets = "redact"
            max_turns = 4

            [workspaces."/srv/shared"]
            quarantine = true
            scopes = ["project"]
            """,
        )
    )

    assert policies.of("/srv/ws") == Policy(secrets="redact", max_turns=4)
    shared = Policy(secrets="redact", max_turns=4, quarantine=True, scopes=frozenset({"project"}))
    assert policies.of("/srv/shared") == shared


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[default\n", "is no TOML"),
        ('[default]\nsecrets = "s3cret"', r"default\.secrets"),
        ("[default]\nscopes = []", r"default\.scopes"),
        ("[default]\nmax_turns = 0", r"default\.max_turns"),
        ("[default]\nsecret = true", r"default\.secret"),
        ('[workspaces."/srv/ws"]\nmax_writes = 51', r"workspaces\./srv/ws\.max_writes"),
        ('workspaces = "all"', "tables"),
        ("[other]", "tables"),
        ('[workspaces]\n"/srv/ws" = 1', r"workspaces\./srv/ws"),
    ],
)
def test_what_is_no_policy_is_refused_with_its_place(tmp_path: Path, text: str, message: str):
    with pytest.raises(ConfigError, match=message) as refused:
        load_policies(written(tmp_path, text))

    assert "s3cret" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="can't be read"):
        load_policies(tmp_path / "none.toml")
