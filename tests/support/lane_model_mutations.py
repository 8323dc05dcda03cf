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
    Mutation("submit", "a known id is accepted again", "'EXISTS', task) == 1", "'EXISTS', task) == 2"),
    Mutation("submit", "a key serves any request", "first[2] ~= request_hash", "false"),
    Mutation("submit", "a key of a forgotten task gives it", "and 'dup' or 'evicted'", "and 'dup' or 'dup'"),
    Mutation("submit", "a closed gate lets in", "gate == 'closed'", "false"),
    Mutation("submit", "a busy gate lets idle lanes in", "gate == 'busy'", "false"),
    Mutation("submit", "one too many is pending", "pending >= max_pending", "pending > max_pending"),
    Mutation("submit", "one too many is upkeep", "upkeep >= max_upkeep", "upkeep > max_upkeep"),
    Mutation("submit", "the running task does not count", "(running and 1 or 0)", "0"),
    Mutation("submit", "running upkeep does not count", "lane.runningKind ~= 'remember'", "false"),
    Mutation("submit", "it goes to the head", "'RPUSH'", "'LPUSH'"),
    Mutation("submit", "each asks for a doorbell", "pending == 0 and settle", "settle"),
    Mutation(
        "submit",
        "the lane gets no due time",
        "lane.due, lane.wait = lane.now + doorbell_ms",
        "lane.due, lane.wait = false",
    ),
    Mutation("submit", "the lane may expire", "redis.call('PERSIST', keys.lane)"),
    Mutation("submit", "one record too many is kept", "- limits.records", "- limits.records - 1"),
    Mutation("submit", "records outlive their life", "'-inf', now - limits.ttl", "'-inf', 0"),
    Mutation("submit", "purged ids stay listed", "redis.call('ZREM', keys.index, task)"),
    Mutation("cancel", "what has run ends at once", "and record[3] == '0' and not record[7]"),
    Mutation("cancel", "what was handed back ends at once", "and not record[7]"),
    Mutation(
        "cancel",
        "it stays in the line",
        "redis.call('LREM', keys.pending, 1, element(record[1], record[6], task))",
    ),
    Mutation("cancel", "an empty lane stays due", "settle(lane, tonumber(ARGV[11]))"),
    Mutation("cancel", "the wish is not noted", "'cancelRequested', 1, "),
    Mutation("cancel", "an ended task is cancelled", "status ~= 'queued' and status ~= 'running'", "false"),
    Mutation("claim", "a living lease is taken", "expires > now or", ""),
    Mutation(
        "claim",
        "no grace after a restart",
        "(lane.recovered ~= '1' and just_restarted(asked.lease_ms))",
        "false",
    ),
    Mutation("claim", "grace for the proven dead", "lane.recovered ~= '1' and "),
    Mutation("claim", "the same claim gets nothing", "lane.claim == asked.claim", "false"),
    Mutation(
        "claim", "the fence follows the clock only", "math.max(tonumber(lane.fence or '0') + 1, now)", "now"
    ),
    Mutation(
        "claim",
        "the fence grows by one only",
        "math.max(tonumber(lane.fence or '0') + 1, now)",
        "tonumber(lane.fence or '0') + 1",
    ),
    Mutation("claim", "runs are endless", "tonumber(record[1] or '0') < asked.max_attempts", "true"),
    Mutation("claim", "a cancelled task is run", "and not record[2]"),
    Mutation("claim", "a held lane goes on", "lane.hold == '1' then", "false then"),
    Mutation("claim", "any store will do", "lane.storeId ~= asked.store", "false"),
    Mutation("claim", "the lease is not due", "now + asked.lease_ms + DUE_SLACK_MS, false", "nil, false"),
    Mutation("claim", "the youngest is taken", "'LPOP'", "'RPOP'"),
    Mutation(
        "claim",
        "the wait stays",
        "asked.lease_ms + DUE_SLACK_MS, false",
        "asked.lease_ms + DUE_SLACK_MS, nil",
    ),
    Mutation("claim", "each attempt is the first start", "record[5] or stamp", "stamp"),
    Mutation(
        "claim",
        "a foreign worker makes idle lanes due",
        "if is_running(lane) or has_pending() then",
        "if true then",
    ),
    Mutation("renew", "the proof of death outlives it", ", 'recovered', ''"),
    Mutation("renew", "anybody renews", "lane[2] ~= ARGV[3] or lane[3] ~= ARGV[4]", "false"),
    Mutation("renew", "a stale fence renews", "or lane[3] ~= ARGV[4]"),
    Mutation("renew", "the due time stays", "redis.call('ZADD', KEYS[2], expires + DUE_SLACK_MS, ARGV[2])"),
    Mutation("renew", "the wish is not told", "'cancelRequested') or '0'", "'cancelWish') or '0'"),
    Mutation("refence", "anybody refences", "lane[2] ~= ARGV[1] or lane[3] ~= ARGV[2]", "false"),
    Mutation("refence", "the fence may stay", "tonumber(lane[3]) + 1, "),
    Mutation("refence", "the store's fence is ignored", "tonumber(ARGV[3]), "),
    Mutation("finish", "anybody ends the run", "and lane.claim == claim and lane.fence == fence"),
    Mutation("finish", "a stale fence ends the run", "and lane.fence == fence then", "then"),
    Mutation("finish", "a repeat is fenced", "return 'already', ", "return 'fenced', "),
    Mutation("finish", "a stale end says already", "return 'fenced', '0'", "return 'already', '0'"),
    Mutation("finish", "handed back to the tail", "'LPUSH'", "'RPUSH'"),
    Mutation("finish", "a hand-back counts", "(counts and 0 or 1)", "0"),
    Mutation("finish", "handing a resolve back takes a run back", " or lane.mode ~= 'run'"),
    Mutation(
        "finish",
        "a pause notes a doorbell",
        "forget_doorbell(lane)\n  lane.due = now + math.min(MAX_PAUSE_MS",
        "lane.due = now + math.min(MAX_PAUSE_MS",
    ),
    Mutation("finish", "six releases are free", "MAX_RELEASES = 5", "MAX_RELEASES = 6"),
    Mutation("finish", "releases never grow old", "now - tonumber(since) < RELEASE_WINDOW_MS", "true"),
    Mutation("finish", "all causes are one", "before == cause and", "before and"),
    Mutation("finish", "a hand-back leaves no trace", ", 'handedBack', 1"),
    Mutation("finish", "no pause for a cause", "if cause == '' or doorbell == '0'", "if true"),
    Mutation("finish", "the record lives on", "redis.call('PEXPIRE', key, limits.ttl)"),
    Mutation("finish", "the record is not listed as ended", "redis.call('ZADD', keys.done, now, task)"),
    Mutation("finish", "memory_changed is not told", "if changed ~= ''", "if false"),
    Mutation("hold", "what waits is called", "lane.hold == '1', has_pending()", "false, has_pending()"),
    Mutation("hold", "a running lane is called", "if not is_running(lane)", "if true"),
    Mutation("drop_workspace", "the lane is not held", "lane.hold = '1'"),
    Mutation("drop_workspace", "a running task is forgotten", "is_running(lane) or #", "#"),
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
    Mutation("expire_owner", "ended leases end again", "and lane[3] ~= '1'"),
    Mutation("expire_owner", "the lane is not due", "redis.call('ZADD', KEYS[1], now, workspace)"),
)
