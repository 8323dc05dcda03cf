"""A memory folder as people have one after a year: many topics, other editors, other languages, odd files."""

from pathlib import Path

TOPICS = 110


def document(name: str, body: str, *, kind: str = "project", end: str = "\n", extra: str = "") -> bytes:
    """A document as an editor with these line ends writes it."""
    text = f"---\ntype: {kind}\nname: {name}\ndescription: About {name}\n{extra}---\n\n{body}\n"
    return text.replace("\n", end).encode()


NESTED = """\
# Release

Steps that we agreed on:

- Tag the release
  - as `v1.2.3`, never `1.2.3`

  ```sh
  - this is no bullet
  git tag v1.2.3
  ```
- Tell the *support* channel
  **Why:** they answer the questions
  How to apply: on the same day
* Rotate the on-call phone

Text between the lists.

- Close the milestone"""

TEXTS: dict[str, bytes] = {
    "project/release.md": document("Release", NESTED),
    "project/windows.md": document("Windows", "- first\n- second\n- third", end="\r\n"),
    "project/bom.md": b"\xef\xbb\xbf" + document("Mark", "Begins with a mark."),
    "project/no-newline.md": document("Cut", "Ends without a line end.").rstrip(b"\n"),
    "project/odd-keys.md": document(
        "Odd keys",
        "Keeps them.",
        extra="# a comment\nx-team: [a, b]\nkeywords: ['x']\nowner: >\n  somebody\n",
    ),
    "project/dead-link.md": document("Dead link", "See [the plan](../gone/plan.md) and ![](no.png)."),
    "project/teuer.md": document("Überlänge", "Größe zählt, sagt der Prüfer: naïve Annahmen ausgeschlossen."),
    "project/tee.md": document(
        "\u7eff\u8336", "\u56e2\u961f\u559d\u7eff\u8336\uff0c\u4e0d\u559d\u5496\u5561\u3002"
    ),
    "project/deep/er/still.md": document("Deep", "Lies deep."),
    "project/separators.md": document("Separators", "one\u2028two\u2029three"),
    "pinned/rules.md": document("Pinned", "- Never touch this."),
    "notes/plain.md": b"No header at all.\n- but a bullet\n",
    "notes/latin.md": b"---\ntype: project\nname: Caf\xe9\n---\n\nNot UTF-8.\n",
    "notes/empty.md": b"",
    "README.txt": b"No markdown.\n",
}
TWINS = ("project/staging-a.md", "project/staging-b.md")


def settle(root: Path) -> None:
    """Fill a root: 110 topics, more than an index holds in its budget, the odd ones above, and two twins."""
    for path, content in TEXTS.items():
        write(root, path, content)
    for path in TWINS:
        write(root, path, document("Staging", "The staging database is called heron."))
    for number in range(TOPICS):
        words = (
            f"Service {number:03d} is owned by team {chr(97 + number % 26) * 3} and paged at {8000 + number}."
        )
        write(root, f"project/service-{number:03d}.md", document(f"Service {number:03d}", words * 2))


def write(root: Path, path: str, content: bytes) -> None:
    """Write a file and the folders that it needs."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def contents(root: Path) -> dict[str, bytes]:
    """Every file but the index, by its path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "MEMORY.md"
    }
