"""How Slack refuses, and what each refusal means."""

from typing import Any

import aiohttp

from core.errors import DependencyError

NOT_SLACK_S = "an answer that is not Slack's"

_CREDENTIALS = frozenset(
    {
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"),
        *("not_allowed_token_type", "team_access_not_granted"),
    }
)
_THROTTLED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_PASSING = frozenset(
    {
        *("service_unavailable", "request_timeout"),
        *("team_added_to_org", "org_login_required", "external_channel_migrating"),
    }
)
_UNSURE = frozenset({"internal_error", "fatal_error"})  # parts of it may have been done, Slack says
_REMEDIES = {
    "not_in_channel": "the bot has to be invited to the channel",
    "channel_not_found": "the bot does not see the channel, which may be private: invite the bot",
    "is_archived": "the channel is archived",
}


class SlackRefused(DependencyError):
    """Slack did not do what it was asked for, or not for sure.

    Attributes:
        reason: Slack's word for it, or what became of the connection; nothing secret.
        may_pass: whether asking again may help.
        is_unsure: whether it may have been done all the same.
        retry_after_s: how long Slack wants to be left alone, seconds; None when it did not say.
    """

    code = "slack_refused"

    def __init__(
        self,
        reason: str,
        *,
        may_pass: bool = True,
        is_unsure: bool = False,
        retry_after_s: int | None = None,
    ) -> None:
        remedy = _REMEDIES.get(reason)
        super().__init__(f"Slack: {reason} ({remedy})" if remedy else f"Slack: {reason}")
        self.reason = reason
        self.may_pass = may_pass
        self.is_unsure = is_unsure
        self.retry_after_s = retry_after_s

    @property
    def is_about_credentials(self) -> bool:
        """Whether Slack does not accept the token: nothing will help but another one."""
        return self.reason in _CREDENTIALS


def refusal_in(response: Any) -> SlackRefused:
    """Read an answer that is an error, also one that somebody between here and Slack gave."""
    status = int(getattr(response, "status_code", None) or getattr(response, "status", None) or 0)
    body = getattr(response, "data", None)
    facts = body if isinstance(body, dict) else {}
    is_readable = bool(facts.get("error")) or status != 200
    reason = str(facts.get("error") or f"status {status}") if is_readable else NOT_SLACK_S
    if reason == "missing_scope" and facts.get("needed"):
        return SlackRefused(f"{reason}: {facts['needed']}", may_pass=False)
    if status == 429 or reason in _THROTTLED:
        return SlackRefused(reason, retry_after_s=_retry_after_s(response))
    is_unsure = status >= 500 or reason in _UNSURE or not is_readable
    return SlackRefused(reason, may_pass=is_unsure or reason in _PASSING, is_unsure=is_unsure)


def no_answer(error: aiohttp.ClientError | OSError) -> SlackRefused:
    """What it means that there was no answer."""
    never_left = isinstance(error, aiohttp.ClientConnectorError)
    return SlackRefused(f"no answer ({type(error).__name__})", is_unsure=not never_left)


def _retry_after_s(response: Any) -> int | None:
    headers = getattr(response, "headers", None) or {}
    told = {str(name).lower(): str(value) for name, value in headers.items()}.get("retry-after", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 10 else None
