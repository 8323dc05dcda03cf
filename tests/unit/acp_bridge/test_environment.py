import pytest

from acp_bridge.environment import child_environment


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TMPDIR",
        "TZ",
        "OPENAI_API_KEY",
        "MEMLANE_MODEL_TIMEOUT_S",
        "MEMLANE_FAST_MODEL",
        "MEMLANE_POLICY_FILE",
        "MEMLANE_TASK_TTL_S",
        "MEMLANE_HISTORY_KEEP",
        "MEMLANE_MEMORY_DIR",
        "MEMLANE_STORE_ID",
        "QWEN_CODE_MEMORY_LOCAL",
    ],
)
def test_what_a_child_needs_is_passed(name):
    assert child_environment({name: "x"})[name] == "x"


@pytest.mark.parametrize(
    "name",
    [
        "MEMLANE_TOKEN",
        "MEMLANE_REDIS_URL",
        "MEMLANE_BROKER_URL",
        "HTTPS_PROXY",
        "PYTHONPATH",
        "LD_PRELOAD",
        "NODE_OPTIONS",
        "AWS_SECRET_ACCESS_KEY",
    ],
)
def test_everything_else_stays_behind(name):
    assert name not in child_environment({name: "x"})


def test_qwen_is_kept_to_the_workspace_and_from_relaunching_whatever_was_set():
    environment = child_environment({"QWEN_CODE_MEMORY_PROJECT_SCOPE": "git"})

    assert environment == {
        "QWEN_CODE_MEMORY_PROJECT_SCOPE": "workspace",
        "QWEN_CODE_NO_RELAUNCH": "true",
    }


def test_picking_twice_changes_nothing():
    once = child_environment({"PATH": "/bin", "SECRET": "x"})

    assert child_environment(once) == once
