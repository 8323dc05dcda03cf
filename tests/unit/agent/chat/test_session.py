from agent.chat.session import MAX_EXCHANGES, MAX_HISTORY_CHARACTERS, MAX_KEPT_CHARACTERS, Session
from agent.models.offline import OfflineModel
from core.ids import SessionId


def new_session() -> Session:
    return Session(SessionId("session-1"), cwd="/srv/ws", model=OfflineModel())


def test_a_session_tells_what_was_asked_and_answered_in_turn() -> None:
    session = new_session()
    session.remember(asked="Which tea?", answered="Green.")
    session.remember(asked="And coffee?", answered="")

    assert [(one.role, one.text) for one in session.history()] == [
        ("user", "Which tea?"),
        ("assistant", "Green."),
        ("user", "And coffee?"),
    ]


def test_only_the_newest_exchanges_are_kept() -> None:
    session = new_session()
    for number in range(MAX_EXCHANGES + 1):
        session.remember(asked=f"{number}?", answered="")

    asked = [one.text for one in session.history()]
    assert (len(asked), asked[0], asked[-1]) == (MAX_EXCHANGES, "1?", f"{MAX_EXCHANGES}?")


def test_long_exchanges_are_cut_and_push_out_earlier_ones() -> None:
    session = new_session()
    for number in range(9):
        session.remember(asked=str(number), answered="x" * 1_000_000)

    said = list(session.history())
    assert sum(len(one.text) for one in said) <= MAX_HISTORY_CHARACTERS
    assert (said[-2].text, len(said[-1].text)) == ("8", MAX_KEPT_CHARACTERS)


def test_a_session_is_titled_by_its_first_question() -> None:
    session = new_session()
    assert session.title is None

    session.touch(" Which\ntea " + "x" * 200)
    session.touch("And coffee?")

    assert session.title is not None
    assert session.title.startswith("Which tea x")
    assert len(session.title) == 80
