"""A document that somebody edits between what a model reads and what it writes."""

from pathlib import Path

from tests.support.scripted_model import document


class EditedMeanwhile:
    """What a model does that reads, writes badly, writes well; right before the good write somebody edits."""

    def __init__(self, path: Path, *, edits: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document())
        self._path = path
        self._edits_left = edits
        self._edits = 0

    def next_call(self, turn: int) -> tuple[str, dict[str, str]]:
        """The tool call of a run's turn, counted from 0: tool and arguments."""
        if turn == 0:
            return "read_file", {"file_path": str(self._path)}
        if turn >= 2 and self._edits < self._edits_left:
            self._edits += 1
            self._path.write_text(document(body=f"Edited by a person, time {self._edits}"))
        content = "bad" if turn == 1 else document(body="Ours.")
        return "write_file", {"file_path": str(self._path), "content": content}
