"""Makes the synchronous SDK from the asynchronous one: `python -m tools.synchronous`."""

import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

import unasync  # type: ignore[import-untyped]  # it has no types

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "memlane" / "asynchronous"
TARGET = ROOT / "memlane" / "synchronous"
NAMES = {
    "AsyncClient": "Client",
    "AsyncSession": "Session",
    "aclose": "close",
    "aclosing": "closing",
    "aread": "read",
    "asynchronous": "synchronous",
    "asyncio": "time",
}
RUFF = Path(sysconfig.get_path("scripts")) / "ruff"


def made() -> Mapping[str, str]:
    """The text of each module of the synchronous SDK, by its file's name."""
    with tempfile.TemporaryDirectory() as folder:
        begun, ended = Path(folder, SOURCE.name), Path(folder, TARGET.name)
        shutil.copytree(SOURCE, begun, ignore=shutil.ignore_patterns("__init__.py", "__pycache__"))
        rule = unasync.Rule(str(begun), str(ended), additional_replacements=NAMES)
        unasync.unasync_files([str(file) for file in begun.glob("*.py")], [rule])
        texts = {file.name: _headed(file) for file in sorted(ended.glob("*.py"))}
    return {name: _formatted(text) for name, text in texts.items()}


def write() -> None:
    """Write the modules where they belong; one whose source is gone goes, too."""
    texts = made()
    for file in TARGET.glob("*.py"):
        if file.name not in texts and file.name != "__init__.py":
            file.unlink()
    for name, text in texts.items():
        (TARGET / name).write_text(text)


def _headed(file: Path) -> str:
    return f"# Made from memlane/{SOURCE.name}/{file.name} by ./dev fmt; change that.\n{file.read_text()}"


def _formatted(text: str) -> str:
    # imports have other names, and so another order; what was awaited one by one can be passed on whole
    for step in (["check", "--fix", "--unsafe-fixes", "--select", "I,UP028,C4"], ["format"]):
        command = [str(RUFF), *step, "--quiet", "--stdin-filename", str(TARGET / "module.py"), "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


if __name__ == "__main__":
    write()
