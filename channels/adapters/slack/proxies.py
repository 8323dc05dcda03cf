"""Which proxy a call goes through."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from channels.adapters.slack.refusals import SlackRefused


def proxy_for(url: str, configured: str | None) -> str | None:
    """The proxy for an address: the one that is configured, else what the environment says; None for none.

    aiohttp could look that up, but would look up credentials in ``~/.netrc`` with it, in place of the token.

    Raises:
        SlackRefused: the environment names one that can't be used.
    """
    if configured is not None:
        return configured
    address = urlsplit(url)
    found = getproxies().get(address.scheme)
    if found is None or proxy_bypass(address.hostname or ""):
        return None
    if urlsplit(found).scheme not in ("http", "https"):
        raise SlackRefused("the environment's proxy is none of HTTP", may_pass=False)
    return found
