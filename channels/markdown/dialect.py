"""How a chat service marks text up."""

from typing import Protocol


class Dialect(Protocol):
    """Writes each thing that markdown can mean; ``inner`` was written by the dialect before."""

    def text(self, text: str) -> str:
        """Plain text: what has a meaning to the chat service is escaped."""
        ...

    def strong(self, inner: str) -> str:
        """Bold text; never within another."""
        ...

    def emphasis(self, inner: str) -> str:
        """Italic text; never within another."""
        ...

    def strike(self, inner: str) -> str:
        """Text that no longer holds; never within another."""
        ...

    def code(self, text: str) -> str:
        """Code within a line, not escaped yet."""
        ...

    def link(self, inner: str, url: str) -> str:
        """A link, or a picture.

        Args:
            inner: what it is called, never empty.
            url: not escaped yet.
        """
        ...

    def fence(self, text: str, language: str) -> str:
        """Lines of code, not escaped yet, without the last newline.

        Args:
            language: empty when none was named.
        """
        ...

    def quote(self, inner: str) -> str:
        """Lines that somebody else said; never within another."""
        ...
