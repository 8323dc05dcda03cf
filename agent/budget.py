"""What an operator's policy leaves a task: scopes, time, turns, tokens, writes."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.deadline import Deadline
from agent.errors import BudgetExceeded, ScopeForbidden
from core.acp import Scope
from core.policies import Policy
from memory.transaction import Transaction

if TYPE_CHECKING:
    from agent.task_run import TaskCall


def allowed_scopes(wanted: frozenset[Scope], policy: Policy) -> frozenset[Scope]:
    """The scopes that may be written of those that a task wants to.

    Raises:
        ScopeForbidden: none of them.
    """
    allowed = wanted & policy.scopes
    if not allowed:
        raise ScopeForbidden("the policy allows no change in " + " or ".join(sorted(wanted)))
    return allowed


def require_scopes(scopes: Collection[Scope], policy: Policy) -> None:
    """Judge where all of a task's changes lie.

    Raises:
        ScopeForbidden: the policy allows no change in one of these scopes.
    """
    forbidden = frozenset(scopes) - policy.scopes
    if forbidden:
        raise ScopeForbidden("the policy allows no change in " + " or ".join(sorted(forbidden)))


def within_time(call: "TaskCall", policy: Policy) -> "TaskCall":
    """The call with the time that the policy leaves it; never more than it had."""
    deadline = earliest(call.deadline, policy)
    return call if deadline is call.deadline else replace(call, deadline=deadline)


def earliest(deadline: Deadline, policy: Policy) -> Deadline:
    """The deadline, or the end of the time that the policy leaves from now on if that is earlier."""
    return deadline if policy.max_seconds is None else deadline.within(policy.max_seconds * 1000)


def turns_within(policy: Policy, usual: int) -> int:
    """How many turns an agent gets that usually has so many."""
    return usual if policy.max_turns is None else min(usual, policy.max_turns)


def require_few_writes(transaction: Transaction, policy: Policy) -> None:
    """Judge how many documents are staged.

    Raises:
        BudgetExceeded: more than the policy lets one task change.
    """
    if policy.max_writes is not None and len(transaction.changes) > policy.max_writes:
        raise BudgetExceeded(f"more than {policy.max_writes} documents would change")
