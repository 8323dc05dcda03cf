"""What happens to secrets on their way into memory: refused, blacked out, or let through, by policy."""

from collections.abc import Iterable

from agent.errors import SecretDetected
from core.policies import SecretPolicy
from memory.credentials import find_secrets, redact, secret_values
from memory.transaction import Change, Transaction


def admit(text: str, policy: SecretPolicy) -> str:
    """The text of a request as a model may read it.

    Raises:
        SecretDetected: it holds a secret, and the policy is to reject.
    """
    if policy == "reject":
        _refuse(find.rule for find in find_secrets(text))
    return text if policy == "allow" else redact(text)


def keep_out(transaction: Transaction, policy: SecretPolicy) -> None:
    """Judge everything that is staged, headers and names of new documents included.

    A secret that one of the changed documents held before is no new one, so that memory which holds
    some can still be put in order.

    Raises:
        SecretDetected: a new secret, and the policy is to reject; or one in a name, which can't be redacted.
    """
    if policy == "allow":
        return
    changes = transaction.changes
    known = frozenset[str]().union(*(secret_values(_text(change.before)) for change in changes))
    for change in changes:
        if change.before is None:
            _refuse(find.rule for find in find_secrets(_place(transaction, change)))
        text = _text(change.after)
        if change.after is None or secret_values(text) <= known:
            continue
        if policy == "reject":
            _refuse(find.rule for find in find_secrets(text))
        transaction.write(change.path, redact(text, known=known).encode("utf-8", "surrogateescape"))


def shown(text: str, policy: SecretPolicy) -> str:
    """A text of memory or of a model as a result may show it."""
    return text if policy == "allow" else redact(text)


def _refuse(rules: Iterable[str]) -> None:
    found = sorted(set(rules))
    if found:
        raise SecretDetected(found)


def _place(transaction: Transaction, change: Change) -> str:
    return change.path.removeprefix(f"{transaction.roots.of(change.scope)}/")


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "surrogateescape")
