"""Blocks that carry untrusted text inside a prompt, such that the text can't close its block.

Only what could be read as one of our own delimiters (or as a chat template token, ``<|…``) is
escaped, so that ordinary text, code and HTML included, reaches the model as it is. Escaping is
reversible: ``unwrap`` gives back exactly what ``wrap`` was given.
"""

import re

USER_CONTENT = "user-content"
MEMORY_INDEX = "memory-index"
MEMORY_DOCUMENT = "memory-document"
MEMORY_CANDIDATES = "memory-candidates"
ENVIRONMENT = "environment"
ATTACHMENT = "attached-resource"

_TAGS = (USER_CONTENT, MEMORY_INDEX, MEMORY_DOCUMENT, MEMORY_CANDIDATES, ENVIRONMENT, ATTACHMENT)
_UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # a model may read over these
# the bounds keep the search linear on a text of "<" and blanks
_GAP = rf"[\s{_UNSEEN}]{{0,8}}"
_NAMES = "|".join(f"[{_UNSEEN}]{{0,2}}".join(tag) for tag in _TAGS)
_DELIMITER = re.compile(rf"<(?=\||{_GAP}/?{_GAP}(?:{_NAMES}))", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"&(?=(?:amp|lt);)")
_ESCAPED = re.compile(r"&(amp|lt);")
_PLAIN = {"amp": "&", "lt": "<"}


def wrap(tag: str, text: str, **attributes: str) -> str:
    """Put text into a block of this tag; attribute values are escaped too."""
    shown = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{shown}>\n{_escape(text)}\n</{tag}>"


def unwrap(tag: str, prompt: str) -> str | None:
    """Find the first block of this tag in a prompt and return its text; None when there is none."""
    found = re.search(rf"<{tag}(?: [^>\n]*)?>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
    if found is None:
        return None
    return _ESCAPED.sub(lambda match: _PLAIN[match[1]], found[1])


def _escape(text: str) -> str:
    return _DELIMITER.sub("&lt;", _AMBIGUOUS.sub("&amp;", text))


def _attribute(value: str) -> str:
    escaped = value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(character if character.isprintable() else " " for character in escaped)
