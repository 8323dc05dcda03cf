"""A memory of 200 documents with pairs planted in it."""

from pathlib import Path

from tests.support.memory import note

EXACT, REWORDED, CONTRADICTORY = "exact", "reworded", "contradictory"

_TOPICS = ("build", "login", "search", "billing", "upload", "export", "cache", "queue", "mail", "report")
_REWORDED = (
    ("The {0} service restarts at noon.", "Please remember that the {0} service restarts at noon"),
    ("The {0} service restarts at noon.", "Every noon there is a restart of the {0} service."),
)
_CONTRADICTORY = (
    ("The {0} team ships on Friday.", "The {0} team ships on Monday."),
    ("The {0} team reviews every change.", "The {0} team does not review every change."),
)


def plant(root: Path) -> dict[str, list[str]]:
    """Write 140 unrelated documents and 30 pairs; gives the stems of the pairs' names by what they are."""
    pairs: dict[str, list[str]] = {EXACT: [], REWORDED: [], CONTRADICTORY: []}
    for number, topic in enumerate(_TOPICS):
        fact = f"The {topic} gateway listens on port {7000 + number}."
        texts = {
            EXACT: (fact, f"- {fact}" if number % 2 else f"{fact}\n"),
            REWORDED: _REWORDED[number % 2],
            CONTRADICTORY: _CONTRADICTORY[number % 2],
        }
        for kind, both in texts.items():
            stem = f"{topic}-{kind}"
            pairs[kind].append(stem)
            for letter, text in zip("ab", both, strict=True):
                _put(root, f"{stem}-{letter}", topic, text.format(topic))
    for number in range(140):
        _put(root, f"other-{number}", f"Matter {number}", f"Matter {number} is kept by unit {number * 7}.")
    return pairs


def _put(root: Path, stem: str, name: str, text: str) -> None:
    (root / f"{stem}.md").write_bytes(note(name, kind="project", body=f"\n{text}\n"))
