"""Slack's own mark-up, mrkdwn, in both directions."""

import html
import re

from channels.markdown.rendering import render_markdown

APART = "`\u200b`\u200b`"

# between a style's sign and a letter: what begins or ends within a word is no style to Slack
_EDGE = "\u200b"
_NEEDLESS_EDGE = re.compile(rf"(?<![^\W_]){_EDGE}(?=[*_~])|(?<=[*_~]){_EDGE}(?![^\W_])")
_LINKABLE = re.compile(r"(?:https?://|mailto:|tel:)[^\s|<>]+", re.IGNORECASE)
# somebody, a channel, everybody or a group, an address; what people write of these is escaped
_REFERENCE = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^|>]*)(?:\|(?P<label>[^>]*))?>")
_SIGNS = {"@": "@", "#": "#", "!": "@"}


class Mrkdwn:
    """A ``Dialect``."""

    def text(self, text: str) -> str:
        """See ``Dialect``."""
        return html.escape(text, quote=False)

    def strong(self, inner: str) -> str:
        """See ``Dialect``."""
        return _styled("*", inner)

    def emphasis(self, inner: str) -> str:
        """See ``Dialect``."""
        return _styled("_", inner)

    def strike(self, inner: str) -> str:
        """See ``Dialect``."""
        return _styled("~", inner)

    def code(self, text: str) -> str:
        """See ``Dialect``."""
        return f"`{self.text(text)}`"

    def link(self, inner: str, url: str) -> str:
        """See ``Dialect``; what leads nowhere, or would end the mark-up, is shown beside its name."""
        if _LINKABLE.fullmatch(url):
            return f"<{self.text(url)}|{inner.replace('|', '/')}>"
        return f"{inner} ({self.text(url)})"

    def fence(self, text: str, language: str) -> str:
        """See ``Dialect``; there are no languages, and an end of code within code is kept from being one."""
        del language
        return f"```\n{self.text(text).replace('```', APART)}\n```"

    def quote(self, inner: str) -> str:
        """See ``Dialect``."""
        return "\n".join(f"> {line}" for line in inner.split("\n"))


def to_mrkdwn(markdown: str) -> str:
    """Render markdown for Slack; what renders to nothing is shown as it was written."""
    rendered = _NEEDLESS_EDGE.sub("", render_markdown(markdown, Mrkdwn()))
    return rendered.strip() or Mrkdwn().text(markdown)


def _styled(sign: str, inner: str) -> str:
    return f"{_EDGE}{sign}{inner}{sign}{_EDGE}"


def spoken(text: str, *, bot_id: str) -> tuple[str, bool]:
    """What somebody wrote, as people read it, without the mention of the bot; and whether it is mentioned.

    Args:
        bot_id: empty when it is not known: nothing is a mention then.
    """
    mention = rf"<@{re.escape(bot_id)}(?:\|[^>]*)?>[:,]?" if bot_id else "(?!)"
    without, mentions = re.subn(mention, "", text)
    return html.unescape(_REFERENCE.sub(_shown, without)).strip(), mentions > 0


def addresses_somebody(text: str) -> bool:
    """Whether a person or a bot is mentioned in what somebody wrote."""
    return any(found["kind"] == "@" for found in _REFERENCE.finditer(text))


def _shown(found: re.Match[str]) -> str:
    kind, target, label = found["kind"], found["target"], found["label"] or ""
    if kind in _SIGNS:
        return f"{_SIGNS[kind]}{(label or target).removeprefix(_SIGNS[kind])}"
    return f"{label} ({target})" if label and not target.endswith(label) else target.removeprefix("mailto:")
