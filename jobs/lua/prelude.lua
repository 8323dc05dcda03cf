-- Fragment, prepended to each lane script after the event fragment.
-- KEYS: none of its own.  ARGV: none.
-- Returns: nothing; defines what follows. `keys` is a table of the caller's declared keys by name.

local DUE_SLACK_MS = 200 -- a lease is looked at so long after its end
local HELD_LOOK_MS = 30000 -- how often a held lane is looked at

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- epoch ms -> 2026-11-30T13:52:40.123Z; years are counted from March, so that a leap day is a year's last
local function rfc3339(ms)
  local floor = math.floor
  local days = floor(ms / 86400000)
  local rest = ms - days * 86400000
  local day = days + 719468 -- since 0000-03-01
  local era = floor(day / 146097)
  day = day - era * 146097
  local year = floor((day - floor(day / 1460) + floor(day / 36524) - floor(day / 146096)) / 365)
  day = day - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * day + 2) / 153) -- 0 is March
  day = day - floor((153 * month + 2) / 5) + 1
  year = year + era * 400 + (month > 9 and 1 or 0)
  month = month + (month > 9 and -9 or 3)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, floor(rest / 3600000),
    floor(rest / 60000) % 60, floor(rest / 1000) % 60, rest % 1000)
end

-- a task's next updatedAt: it never goes backwards, even if the server's clock does
local function stamp_after(before, now)
  local stamp = rfc3339(now)
  return before and before > stamp and before or stamp
end

local function touch(task_key, now)
  redis.call('HSET', task_key, 'updatedAt', stamp_after(redis.call('HGET', task_key, 'updatedAt'), now))
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

-- write how a task ended: record, life, place among the ended, statistics, event
-- ending: {status, code, message, result, revision, usage, fence}; absent values are nil or ''
-- limits: {ttl, input_keep, records} in ms and records
local function end_task(keys, base, log, task, ending, limits, now)
  local task_key, input_key = base .. ':task:' .. task, base .. ':in:' .. task
  local record = redis.call('HMGET', task_key, 'kind', 'clientId', 'attempt', 'updatedAt')
  local kind, code = record[1], ending.code
  local stamp = stamp_after(record[4], now)
  local fields = { 'status', ending.status, 'outcome', ending.status, 'updatedAt', stamp, 'finishedAt', stamp }
  local values = { result = ending.result, revision = ending.revision, usage = ending.usage, errorCode = code,
    errorMessage = ending.message, finishingFence = ending.fence }
  for field, value in pairs(values) do
    if value ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  redis.call('HSET', task_key, unpack(fields))
  redis.call('PEXPIRE', task_key, limits.ttl)
  redis.call('PEXPIRE', input_key, limits.input_keep)
  redis.call('ZADD', keys.done, now, task)
  redis.call('HINCRBY', keys.stats, 'ended:' .. kind .. ':' .. (code ~= '' and code or ending.status), 1)
  local facts = string.format(',"status":"%s","outcome":"%s","attempt":%s', ending.status, ending.status, record[3])
  if code ~= '' then
    facts = facts .. string.format(',"code":"%s"', code)
  end
  task_event(log, 'task_' .. ending.status, task, kind, facts, record[2] or '', now)
  purge_records(keys, base, limits, now)
end

-- the lane has nothing running: ask for a doorbell if it has work, else let it rest
-- returns the doorbell's stamp as text, '0' when none is to be rung
local function settle(keys, workspace, doorbell_ms, now)
  local IDLE_LANE_MS = 30 * 86400000
  local held = redis.call('HGET', keys.lane, 'hold') == '1'
  local has_work = redis.call('LLEN', keys.pending) > 0
  if has_work and not held then
    local stamp = string.format('%.0f', now)
    redis.call('HSET', keys.lane, 'doorbellAtMs', stamp, 'doorbells', 1)
    redis.call('ZADD', keys.due, now + doorbell_ms, workspace)
    redis.call('ZADD', keys.wait, 'NX', now, workspace)
    return stamp
  end
  redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)
  redis.call('ZREM', keys.wait, workspace)
  if has_work then
    redis.call('ZADD', keys.due, now + HELD_LOOK_MS, workspace)
  else
    redis.call('ZREM', keys.due, workspace)
  end
  if not has_work and not held then
    redis.call('PEXPIRE', keys.lane, IDLE_LANE_MS)
  else
    redis.call('PERSIST', keys.lane)
  end
  return '0'
end
