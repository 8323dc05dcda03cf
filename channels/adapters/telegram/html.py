"""The HTML that Telegram takes in messages: https://core.telegram.org/bots/api#html-style."""

import html
import re

from channels.markdown.rendering import render_markdown
from channels.splitting import utf16_units

_TAG = re.compile(r"<[^<>]*>")
_LINKABLE = re.compile(r"(?:https?|tg|mailto|tel|ftp):", re.IGNORECASE)


class TelegramHtml:
    """A ``Dialect``."""

    def text(self, text: str) -> str:
        """See ``Dialect``."""
        return html.escape(text, quote=False)

    def strong(self, inner: str) -> str:
        """See ``Dialect``."""
        return f"<b>{inner}</b>"

    def emphasis(self, inner: str) -> str:
        """See ``Dialect``."""
        return f"<i>{inner}</i>"

    def strike(self, inner: str) -> str:
        """See ``Dialect``."""
        return f"<s>{inner}</s>"

    def code(self, text: str) -> str:
        """See ``Dialect``."""
        return f"<code>{self.text(text)}</code>"

    def link(self, inner: str, url: str) -> str:
        """See ``Dialect``; what leads nowhere from a chat, such as a path, is shown beside its name."""
        if _LINKABLE.match(url):
            return f'<a href="{html.escape(url)}">{inner}</a>'
        return f"{inner} ({self.text(url)})"

    def fence(self, text: str, language: str) -> str:
        """See ``Dialect``."""
        if not language:
            return f"<pre>{self.text(text)}</pre>"
        return f'<pre><code class="language-{html.escape(language)}">{self.text(text)}</code></pre>'

    def quote(self, inner: str) -> str:
        """See ``Dialect``."""
        return f"<blockquote>{inner}</blockquote>"


def to_html(markdown: str) -> str:
    """Render markdown for Telegram."""
    return render_markdown(markdown, TelegramHtml())


def shown_units(rendered: str) -> int:
    """How long Telegram holds a rendered message to be: UTF-16 units without the mark-up."""
    return utf16_units(html.unescape(_TAG.sub("", rendered)))
