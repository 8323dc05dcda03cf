"""Text rules of the wire: what counts as blank, which characters are replaced."""

import re

# What String.prototype.trim strips (ECMA-262: WhiteSpace and LineTerminator); Python's str.strip() differs.
_JS_BLANK = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_JS_TRIM = re.compile(rf"\A[{_JS_BLANK}]+|[{_JS_BLANK}]+\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")


def js_trim(text: str) -> str:
    """Strip what JavaScript's ``trim()`` strips: U+00A0, U+3000, U+FEFF go, U+200B stays."""
    return _JS_TRIM.sub("", text)


def encodable(text: str) -> str:
    """Replace what has no bytes: a lone surrogate becomes U+FFFD, two halves of a character become it."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def well_formed(text: str) -> str:
    """Replace what can't be stored: a lone surrogate becomes U+FFFD, NUL becomes a space."""
    return encodable(text).replace("\0", " ")


def utf8_size(text: str) -> int:
    """Size of ``text`` in UTF-8 bytes; a lone surrogate counts three."""
    return len(text.encode("utf-8", "surrogatepass"))
