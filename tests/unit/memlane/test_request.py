import pytest

from memlane.errors import UnusableKey
from memlane.request import Upload, reading, signal, submission


def test_each_submission_has_a_key_of_its_own_and_can_therefore_be_repeated():
    one, other = submission("/m", {}, key=None), submission("/m", {}, key=None)

    assert one.key is not None
    assert one.key != other.key
    assert one.is_repeatable
    assert one.headers() == {"Idempotency-Key": one.key}


def test_the_callers_key_is_sent_as_it_is():
    assert submission("/m", {}, key="order 7").headers() == {"Idempotency-Key": "order 7"}


@pytest.mark.parametrize("key", ["", "é", "a\n", "k" * 256])
def test_a_key_that_can_not_be_sent_is_refused(key):
    with pytest.raises(UnusableKey):
        submission("/m", {}, key=key)


def test_what_makes_no_task_has_no_key_and_is_not_repeated():
    assert (signal("/m").key, signal("/m").is_repeatable) == (None, False)


def test_a_held_answer_is_asked_for_by_a_preference():
    assert reading("/m", hold_s=30).headers() == {"Prefer": "wait=30"}
    assert reading("/m").headers() == {}


def test_an_upload_says_its_type():
    sent = submission("/m", Upload(b"x", "application/zip"), key="k").headers()

    assert sent == {"Idempotency-Key": "k", "Content-Type": "application/zip"}
