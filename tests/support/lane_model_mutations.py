"""Guards of the lane scripts, each broken in one way; the machine has to notice."""

from collections.abc import Callable
from dataclasses import dataclass

from jobs.scripts import source


@dataclass(frozen=True)
class Mutation:
    """One guard gone from one script: ``old`` becomes ``new``."""

    script: str
    what: str
    old: str
    new: str = ""

    def __str__(self) -> str:
        return f"{self.script}: {self.what}"


def mutated(mutation: Mutation) -> Callable[[str], str]:
    """A loader of script sources that breaks one of them, wherever its guard comes from."""

    def broken_source(name: str) -> str:
        text = source(name)
        if name != mutation.script:
            return text
        assert mutation.old in text, f"the script has no {mutation.old!r}"
        return text.replace(mutation.old, mutation.new)

    return broken_source


MUTATIONS = (
    Mutation("submit", "a known id is accepted again", "keys.task) == 1", "keys.task) == 2"),
    Mutation("submit", "a key serves any request", "first[2] ~= request_hash", "false"),
    Mutation("submit", "a key of a forgotten task gives it", "and 'dup' or 'evicted'", "and 'dup' or 'dup'"),
    Mutation("submit", "a closed gate lets in", "ARGV[19] == 'closed'", "false"),
    Mutation("submit", "a busy gate lets idle lanes in", "ARGV[19] == 'busy'", "false"),
    Mutation("submit", "one too many is pending", "pending >= max_pending", "pending > max_pending"),
    Mutation("submit", "one too many is upkeep", "upkeep >= max_upkeep", "upkeep > max_upkeep"),
    Mutation("submit", "the running task does not count", "(running and 1 or 0)", "0"),
    Mutation("submit", "running upkeep does not count", "lane[2] ~= 'remember'", "false"),
    Mutation("submit", "it goes to the head", "'RPUSH'", "'LPUSH'"),
    Mutation("submit", "each asks for a doorbell", "or tonumber(lane[5] or '0') > 0 then", "then"),
    Mutation("submit", "the lane gets no due time", "ZADD', keys.due, now + doorbell_ms", "ZREM', keys.due"),
    Mutation("submit", "the lane may expire", "redis.call('PERSIST', keys.lane)"),
    Mutation("submit", "one record too many is kept", "- limits.records", "- limits.records - 1"),
    Mutation("submit", "records outlive their life", "'-inf', now - limits.ttl", "'-inf', 0"),
    Mutation("submit", "purged ids stay listed", "redis.call('ZREM', keys.index, task)"),
    Mutation("cancel", "what has run ends at once", "and record[4] == '0' and not record[5]"),
    Mutation("cancel", "what was handed back ends at once", "and not record[5]"),
    Mutation(
        "cancel",
        "it stays in the line",
        "redis.call('LREM', keys.pending, 1, element(record[2], record[3], task))",
    ),
    Mutation("cancel", "an empty lane stays due", "settle(keys, workspace, tonumber(ARGV[11]), now)"),
    Mutation("cancel", "the wish is not noted", "redis.call('HSET', keys.task, 'cancelRequested', 1)"),
    Mutation("cancel", "an ended task is cancelled", "status ~= 'queued' and status ~= 'running'", "false"),
    Mutation("claim", "a living lease is taken", "expires_before > now or", ""),
    Mutation("claim", "no grace after a restart", "(lane[8] ~= '1' and just_restarted())", "false"),
    Mutation("claim", "grace for the proven dead", "lane[8] ~= '1' and "),
    Mutation("claim", "the same claim gets nothing", "lane[3] == claim", "false"),
    Mutation("claim", "the fence follows the clock only", "math.max(fence_before + 1, now)", "now"),
    Mutation("claim", "the fence grows by one only", "math.max(fence_before + 1, now)", "fence_before + 1"),
    Mutation("claim", "runs are endless", "attempts < max_attempts", "true"),
    Mutation("claim", "a cancelled task is run", "and not cancelled"),
    Mutation("claim", "a held lane goes on", "lane[7] == '1'", "false"),
    Mutation("claim", "any store will do", "lane[6] ~= ARGV[9]", "false"),
    Mutation("claim", "the lease is not due", "redis.call('ZADD', due, expires + DUE_SLACK_MS, workspace)"),
    Mutation("claim", "the youngest is taken", "'LPOP'", "'RPOP'"),
    Mutation("claim", "the wait stays", "note_wait(keys, workspace)\nlocal", "local"),
    Mutation("claim", "each attempt is the first start", "'HSETNX', task_key", "'HSET', task_key"),
    Mutation(
        "claim",
        "a foreign worker makes idle lanes due",
        "redis.call('LLEN', keys.pending) > 0 then",
        "true then",
    ),
    Mutation("renew", "the proof of death outlives it", ", 'recovered', ''"),
    Mutation("renew", "anybody renews", "lane[2] ~= ARGV[3] or lane[3] ~= ARGV[4]", "false"),
    Mutation("renew", "a stale fence renews", "or lane[3] ~= ARGV[4]"),
    Mutation("renew", "the due time stays", "redis.call('ZADD', KEYS[2], expires + DUE_SLACK_MS, ARGV[2])"),
    Mutation("renew", "the wish is not told", "'cancelRequested') or '0'", "'cancelWish') or '0'"),
    Mutation("refence", "anybody refences", "lane[2] ~= ARGV[1] or lane[3] ~= ARGV[2]", "false"),
    Mutation("refence", "the fence may stay", "tonumber(lane[3]) + 1, "),
    Mutation("refence", "the store's fence is ignored", "tonumber(ARGV[3]), "),
    Mutation("finish", "anybody ends the run", "or lane[2] ~= claim or lane[3] ~= fence"),
    Mutation("finish", "a stale fence ends the run", "or lane[3] ~= fence then", "then"),
    Mutation("finish", "a repeat is fenced", "return { 'already' }", "return { 'fenced' }"),
    Mutation("finish", "a stale end says already", "return { 'fenced' }", "return { 'already', '0' }"),
    Mutation("finish", "handed back to the tail", "'LPUSH'", "'RPUSH'"),
    Mutation(
        "finish",
        "a hand-back counts",
        "HINCRBY', keys.task, 'attempt', -1",
        "HINCRBY', keys.task, 'attempt', 0",
    ),
    Mutation("finish", "handing a resolve back takes a run back", " and lane[7] == 'run'"),
    Mutation(
        "finish",
        "a pause notes a doorbell",
        "redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)\nredis",
        "redis",
    ),
    Mutation("finish", "six releases are free", "MAX_RELEASES = 5", "MAX_RELEASES = 6"),
    Mutation("finish", "releases never grow old", "now - tonumber(record[5]) < RELEASE_WINDOW_MS", "true"),
    Mutation("finish", "all causes are one", "record[3] == cause and", "record[3] and"),
    Mutation("finish", "a hand-back leaves no trace", ", 'handedBack', 1"),
    Mutation("finish", "no pause for a cause", "if cause == '' or doorbell == '0'", "if true"),
    Mutation("finish", "the record lives on", "redis.call('PEXPIRE', task_key, limits.ttl)"),
    Mutation("finish", "the record is not listed as ended", "redis.call('ZADD', keys.done, now, task)"),
    Mutation("finish", "memory_changed is not told", "if changed ~= ''", "if false"),
    Mutation("hold", "what waits is called", "redis.call('HGET', keys.lane, 'hold') == '1'", "false"),
    Mutation("hold", "a running lane is called", "if running and running ~= ''", "if false"),
    Mutation("drop_workspace", "the lane is not held", "redis.call('HSET', keys.lane, 'hold', 1)"),
    Mutation("drop_workspace", "a running task is forgotten", "if running and running ~= ''", "if false"),
    Mutation("drop_workspace", "idempotency keys stay", "idempotency or base", "base"),
    Mutation("drop_workspace", "the line stays", "redis.call('DEL', keys.pending)"),
    Mutation(
        "drop_workspace", "the due time stays", "redis.call('ZREM', keys.due, workspace)\nreturn", "return"
    ),
    Mutation("sweep", "a living lease is rung for", "if expires > now", "if false"),
    Mutation("sweep", "a lane rung for stays due", "now + math.min(MAX_BACKOFF_MS, ", "math.min(now, "),
    Mutation("sweep", "no backoff", "doorbell_ms * 2 ^ math.min(doorbells, 10)", "doorbell_ms"),
    Mutation("sweep", "an equal stamp is lost", "rung >= oldest", "rung > oldest"),
    Mutation("sweep", "a doorbell waits for ever", "and now - rung < ALWAYS_AFTER_MS"),
    Mutation("sweep", "a held lane is rung for", "elseif lane[5] == '1'", "elseif false"),
    Mutation("sweep", "an idle lane stays due", "redis.call('ZREM', KEYS[1], workspace)"),
    Mutation(
        "expire_owner", "alike names are one", "#ARGV[2] + 1) == ARGV[2] .. ':'", "#ARGV[2]) == ARGV[2]"
    ),
    Mutation("expire_owner", "the proof is not noted", ", 'recovered', 1"),
    Mutation("expire_owner", "ended leases end again", "and tonumber(lane[3]) > now"),
    Mutation("expire_owner", "the lane is not due", "redis.call('ZADD', KEYS[1], now, workspace)"),
)
