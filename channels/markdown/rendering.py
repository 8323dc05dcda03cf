"""Walks through markdown and has a dialect write it.

Headings become bold lines, lists get bullets, tables become aligned columns: no chat service has more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from channels.markdown.dialect import Dialect
from channels.markdown.tables import column_text

BULLET = "•"
RULE = "———"

# raw HTML is text: agents write about it more often than in it
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render_markdown(text: str, dialect: Dialect) -> str:
    """Write markdown in a dialect; whatever the text is, some rendering of all of it comes out."""
    return _Walk(dialect).blocks(SyntaxTreeNode(_PARSER.parse(text)))


@dataclass(frozen=True, slots=True)
class _Walk:
    """A place in the tree.

    Attributes:
        within: styles that hold already and are not written again.
    """

    dialect: Dialect
    within: frozenset[str] = field(default_factory=frozenset)

    def blocks(self, node: SyntaxTreeNode, *, separator: str = "\n\n") -> str:
        written = (self.block(child) for child in node.children)
        return separator.join(block for block in written if block)

    def inlines(self, node: SyntaxTreeNode) -> str:
        return "".join(self.inline(child) for child in node.children)

    def block(self, node: SyntaxTreeNode) -> str:
        return _BLOCKS.get(node.type, _Walk.blocks)(self, node)

    def inline(self, node: SyntaxTreeNode) -> str:
        return _INLINES.get(node.type, _Walk.text)(self, node)

    def strong(self, node: SyntaxTreeNode) -> str:
        return self.styled("strong", node, self.dialect.strong)

    def fence(self, node: SyntaxTreeNode) -> str:
        return self.dialect.fence(node.content.removesuffix("\n"), _language_of(node))

    def rule(self, _node: SyntaxTreeNode) -> str:
        return self.dialect.text(RULE)

    def table(self, node: SyntaxTreeNode) -> str:
        return self.dialect.fence(column_text(_rows_of(node)), "")

    def quote(self, node: SyntaxTreeNode) -> str:
        inner = self.inside("quote").blocks(node)
        return inner if "quote" in self.within or not inner else self.dialect.quote(inner)

    def items(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1))
        items = (self.blocks(item, separator="\n") for item in node.children)
        marks = (f"{n}." if node.type == "ordered_list" else BULLET for n in count(first))
        return "\n".join(
            _indented(self.dialect.text(mark), lines) for mark, lines in zip(marks, items, strict=False)
        )

    def text(self, node: SyntaxTreeNode) -> str:
        return self.dialect.text(node.content)

    def line_break(self, _node: SyntaxTreeNode) -> str:
        return "\n"

    def code(self, node: SyntaxTreeNode) -> str:
        return self.dialect.code(node.content)

    def emphasis(self, node: SyntaxTreeNode) -> str:
        return self.styled("emphasis", node, self.dialect.emphasis)

    def strike(self, node: SyntaxTreeNode) -> str:
        return self.styled("strike", node, self.dialect.strike)

    def link(self, node: SyntaxTreeNode) -> str:
        url = str(node.attrs.get("href") or node.attrs.get("src") or "")
        inner = self.inside("link").inlines(node) or self.dialect.text(url)
        return inner if not url or "link" in self.within else self.dialect.link(inner, url)

    def inside(self, style: str) -> "_Walk":
        return replace(self, within=self.within | {style})

    def styled(self, style: str, node: SyntaxTreeNode, write: Callable[[str], str]) -> str:
        inner = self.inside(style).inlines(node)
        return inner if style in self.within or not inner.strip() else write(inner)


_BLOCKS: Mapping[str, Callable[[_Walk, SyntaxTreeNode], str]] = {
    "paragraph": _Walk.inlines,
    "inline": _Walk.inlines,
    "heading": _Walk.strong,
    "fence": _Walk.fence,
    "code_block": _Walk.fence,
    "blockquote": _Walk.quote,
    "bullet_list": _Walk.items,
    "ordered_list": _Walk.items,
    "table": _Walk.table,
    "hr": _Walk.rule,
}
_INLINES: Mapping[str, Callable[[_Walk, SyntaxTreeNode], str]] = {
    "inline": _Walk.inlines,
    "softbreak": _Walk.line_break,
    "hardbreak": _Walk.line_break,
    "code_inline": _Walk.code,
    "strong": _Walk.strong,
    "em": _Walk.emphasis,
    "s": _Walk.strike,
    "link": _Walk.link,
    "image": _Walk.link,
}


def _indented(mark: str, lines: str) -> str:
    """A list's item: further lines stand below its text."""
    return f"{mark} {lines}".rstrip().replace("\n", "\n  ")


def _language_of(node: SyntaxTreeNode) -> str:
    words = node.info.split() if node.type == "fence" else []
    return words[0] if words else ""


def _rows_of(table: SyntaxTreeNode) -> list[list[str]]:
    return [
        ["".join(_plain(inline) for inline in cell.children) for cell in row.children]
        for part in table.children
        for row in part.children
    ]


def _plain(node: SyntaxTreeNode) -> str:
    if node.children:
        return "".join(_plain(child) for child in node.children)
    return "\n" if node.type in ("softbreak", "hardbreak") else node.content
