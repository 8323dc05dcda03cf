import pytest

from jobs.failures import failed, timed_out


def test_a_kind_of_its_own_keeps_its_code_and_fixed_message():
    end = failed("remember", "remember_path_escape")

    assert (end.status, end.code) == ("failed", "remember_path_escape")
    assert end.message == "Remember agent touched a path outside managed memory."


@pytest.mark.parametrize("kind", ["ERR_UNHANDLED_ERROR", "unspecified", "", None, "remember_failed"])
def test_a_kind_nobody_knows_becomes_the_tasks_own(kind: str | None):
    end = failed("remember", kind)

    assert (end.code, end.message) == ("remember_failed", "Workspace memory remember failed.")


def test_a_time_out_that_the_child_reports_is_a_time_out():
    assert failed("remember", "remember_timeout") == timed_out("remember")
    assert timed_out("remember").message == "Workspace memory remember timed out."
