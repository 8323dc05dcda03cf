-- Fragment, prepended to each lane script after the event fragment.
-- KEYS: none of its own.  ARGV: none.
-- Returns: nothing; defines now_ms, rfc3339, task_event, element and purge_records.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- epoch ms -> 2026-11-30T13:52:40.123Z (civil date from days, proleptic Gregorian)
local function rfc3339(ms)
  local seconds = math.floor(ms / 1000)
  local day_seconds = seconds % 86400
  local z = math.floor(seconds / 86400) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, doy - math.floor((153 * mp + 2) / 5) + 1,
    math.floor(day_seconds / 3600), math.floor(day_seconds / 60) % 60, day_seconds % 60, ms % 1000)
end

-- a task's updatedAt never goes backwards, even if the server's clock does
local function touch(task_key, now)
  local stamp = rfc3339(now)
  local before = redis.call('HGET', task_key, 'updatedAt')
  if before and before > stamp then
    stamp = before
  end
  redis.call('HSET', task_key, 'updatedAt', stamp)
  return stamp
end

-- element of the pending list; <kind>:<accepted ms>:<task id>
local function element(kind, accepted, task)
  return string.format('%s:%s:%s', kind, accepted, task)
end

local function element_parts(text)
  return string.match(text, '^(%l+):(%d+):(.+)$')
end

-- all values are ids, codes and integers of ours: nothing needs escaping
local function task_event(log, event_type, task, kind, facts, client, now)
  local data = string.format('{"taskId":"%s","kind":"%s"%s}', task, kind, facts)
  append_event(log, event_type, data, client, now)
end

-- the lane's oldest queued task decides what its wait score says
local function note_wait(keys, workspace)
  local head = redis.call('LINDEX', keys.pending, 0)
  if head then
    local _, accepted = element_parts(head)
    redis.call('ZADD', keys.wait, accepted, workspace)
  else
    redis.call('ZREM', keys.wait, workspace)
  end
end

-- drop records past their life, then the oldest ended ones over the cap; at most 64 of each per call
local function purge_records(keys, base, limits, now)
  local function drop(task)
    redis.call('ZREM', keys.index, task)
    redis.call('ZREM', keys.done, task)
    redis.call('DEL', base .. ':task:' .. task, base .. ':in:' .. task)
  end
  for _, task in ipairs(redis.call('ZRANGEBYSCORE', keys.done, '-inf', now - limits.ttl, 'LIMIT', 0, 64)) do
    drop(task)
  end
  local surplus = redis.call('ZCARD', keys.index) - limits.records
  if surplus > 0 then
    for _, task in ipairs(redis.call('ZRANGE', keys.done, 0, math.min(surplus, 64) - 1)) do
      drop(task)
    end
  end
end
