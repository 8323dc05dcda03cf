"""What the house promises of its files and no other tool checks."""

import ast
import importlib
import pkgutil
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import MemlaneError

ROOT = Path(__file__).parents[2]
PACKAGES = ("memlane", "core", "events", "memory", "agent", "acp_bridge", "channels", "jobs", "web")
SKIPPED = {".git", ".venv", "__pycache__", "node_modules", ".hypothesis", "build", "dist"}
TEXT_SUFFIXES = {".py", ".md", ".lua", ".toml", ".txt", ".yml", ".yaml", ".json", ".html", ".css", ".js"}
MAX_LINES = 400
LAZY_INIT = "memlane/__init__.py"  # docs/decisions/0003


def repository_files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if (
            path.is_file()
            and not SKIPPED.intersection(parts)
            and not any(part.endswith("_cache") or part.startswith(".coverage") for part in parts)
        ):
            yield path


def lua_scripts() -> list[Path]:
    return [path for path in repository_files() if path.suffix == ".lua"]


def sources() -> list[Path]:
    return [
        path
        for path in repository_files()
        if path.relative_to(ROOT).parts[0] in PACKAGES and path.suffix == ".py"
    ]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_source_file_is_longer_than_400_lines():
    lengths = {
        name_of(path): len(path.read_text().splitlines())
        for path in repository_files()
        if path.suffix == ".py"
    }

    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_an_init_holds_exactly_one_docstring():
    for path in sources():
        if path.name == "__init__.py" and name_of(path) != LAZY_INIT:
            statements = ast.parse(path.read_text()).body

            assert len(statements) == 1, name_of(path)
            assert isinstance(statements[0], ast.Expr), name_of(path)
            assert isinstance(statements[0].value, ast.Constant), name_of(path)


def test_the_one_init_with_code_only_loads_the_client():
    statements = ast.parse((ROOT / LAZY_INIT).read_text()).body

    assert [node.name for node in statements if isinstance(node, ast.FunctionDef)] == ["__getattr__"]


def test_every_package_is_one():
    for path in sources():
        assert (path.parent / "__init__.py").exists(), name_of(path)


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("*/lua/*.lua"), *ROOT.glob("events/*/lua/*.lua")]), ids=name_of
)
def test_a_lua_script_starts_with_its_keys_arguments_and_returns(path):
    header = []
    for line in path.read_text().splitlines():
        if not line.startswith(("--", "#!")):
            break
        header.append(line)
    text = "\n".join(header)

    assert all(word in text for word in ("KEYS", "ARGV", "Returns")), text


def error_classes(base: type[MemlaneError]) -> Iterator[type[MemlaneError]]:
    yield base
    for leaf in base.__subclasses__():
        yield from error_classes(leaf)


def test_every_error_has_a_code_of_its_own():
    for package in PACKAGES:
        module = importlib.import_module(package)
        for found in pkgutil.walk_packages(module.__path__, f"{package}."):
            # running or patching modules, not holding errors
            if not found.name.endswith(("__main__", "tether")) and not found.name.startswith(
                "memlane.cli.web"
            ):
                importlib.import_module(found.name)
    codes = Counter(
        vars(kind).get("code", f"missing in {kind.__name__}") for kind in set(error_classes(MemlaneError))
    )

    assert [code for code, count in codes.items() if count > 1 or code.startswith("missing")] == []


def calls(path: Path) -> Iterator[str]:
    """Dotted names used in a file, such as ``os.environ``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


CLOCKS = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "datetime.now",
    "datetime.utcnow",
}
ENVIRONMENT = {"os.environ", "os.getenv", "os.putenv"}
IDS = {"uuid.uuid1", "uuid.uuid4", "uuid.uuid5", "uuid.uuid7"}


@pytest.mark.parametrize(
    ("names", "owners"),
    [
        (CLOCKS, {"core/clock.py"}),
        # the latter mends the import path, before which no settings can be imported
        (ENVIRONMENT, {"core/settings.py", "memlane/import_path.py"}),
        (IDS, {"core/ids.py"}),
    ],
    ids=["clocks", "environment", "ids"],
)
def test_only_core_reads_the_world(names, owners):
    users = {name_of(path) for path in sources() if names.intersection(calls(path))}

    assert users <= owners


def written_files() -> Iterator[tuple[Path, str]]:
    for path in repository_files():
        if path.suffix in TEXT_SUFFIXES or not path.suffix:
            yield path, path.read_text(errors="replace")


# an absolute path of two names or more; the lookbehind keeps URLs, globs, tags and joined paths out
ABSOLUTE_PATH = re.compile(r"(?<![\w.~/:%}>)\]\\$*<-])/([A-Za-z0-9_.-]+)/[\w.%-]")
OUR_ROUTES = {"channels", "events", "health", "memory", "ops", "session", "workspace", "workspaces"}
ON_EVERY_LINUX = {"dev", "proc", "usr"}
MADE_UP = {"Workspace", "a", "base", "m", "no", "v1"}
IN_TESTS = MADE_UP | {"bin", "etc", "home", "run", "srv"}
IN_DOCUMENTS = {"etc", "home", "opt", "run", "srv", "var"}
CLIMBING = re.compile(r"(?<![\w.])(?:\.\./)+")
TRACKER_NUMBER = re.compile(
    r"\b(?:issue|ticket|PR|pull request) ?#?\d+\b|(?<![\w&/#(\[.-])#\d{1,5}\b(?![.\w-]*;)", re.IGNORECASE
)


def allowed_paths(path: Path) -> set[str]:
    if path.relative_to(ROOT).parts[0] == "tests":
        return OUR_ROUTES | ON_EVERY_LINUX | IN_TESTS
    return OUR_ROUTES | ON_EVERY_LINUX | (set() if path.suffix == ".py" else IN_DOCUMENTS)


def test_no_file_names_a_place_of_the_machine_it_was_written_on():
    found = {}
    for path, text in written_files():
        foreign = set(ABSOLUTE_PATH.findall(text)) - allowed_paths(path)
        if foreign:
            found[name_of(path)] = foreign

    assert found == {}


def test_no_file_refers_to_what_lies_beside_the_repository():
    found = []
    for path, text in written_files():
        place = path.relative_to(ROOT).parts
        if place[0] != "tests":  # tests try to get out on purpose
            found += [name_of(path) for match in CLIMBING.finditer(text) if match[0].count("/") >= len(place)]

    assert found == []


def test_no_file_names_a_number_of_a_tracker():
    numbers = {name_of(path): TRACKER_NUMBER.search(text) for path, text in written_files()}

    assert {name: match.group() for name, match in numbers.items() if match} == {}


EXCEPTION = re.compile(r"#\s*(?:ruff: )?noqa\b.*|#\s*type:\s*ignore\b.*")
REASONED = re.compile(
    r"# (?:ruff: )?noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* - \S.*|# type: ignore\[[a-z, -]+\]\s+# \w.*", re.DOTALL
)


def comments(path: Path) -> Iterator[str]:
    with path.open("rb") as source:
        yield from (
            token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT
        )


def test_every_exception_from_a_check_has_its_reason():
    python = [path for path in repository_files() if path.suffix == ".py"]
    found = [
        f"{name_of(path)}: {comment}"
        for path in [*python, ROOT / "dev"]
        for comment in comments(path)
        if (exception := EXCEPTION.search(comment)) and not REASONED.fullmatch(exception.group())
    ]

    assert found == []


def test_the_readme_names_commands_that_exist():
    readme = (ROOT / "README.md").read_text()
    commands = set(re.findall(r"\./dev (\w+)", readme)) | {"up", "test"}
    offered = set(re.findall(r"^  (\w+) ", (ROOT / "dev").read_text(), re.MULTILINE))

    assert commands <= offered


def test_the_two_entry_scripts_can_be_executed():
    for name in ("dev", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111, name
