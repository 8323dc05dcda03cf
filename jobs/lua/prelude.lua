-- Fragment, prepended to each lane script after the event fragment.
-- KEYS: none of its own.  ARGV: none.
-- Returns: nothing; defines what follows. `keys` is a table of the caller's declared keys by name.

local DUE_SLACK_MS = 200 -- a lease is looked at so long after its end
local HELD_LOOK_MS = 30000 -- how often a held lane is looked at

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function days_of_year(year)
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return leap and 366 or 365
end

-- epoch ms -> 2026-11-30T13:52:40.123Z
local function rfc3339(ms)
  local DAYS_OF_MONTHS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local year, month = 1970, 1
  while days >= days_of_year(year) do -- some sixty turns
    days = days - days_of_year(year)
    year = year + 1
  end
  DAYS_OF_MONTHS[2] = days_of_year(year) - 337
  while days >= DAYS_OF_MONTHS[month] do
    days = days - DAYS_OF_MONTHS[month]
    month = month + 1
  end
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, days + 1, math.floor(rest / 3600000),
    math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
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

-- write how a task ended: record, life, place among the ended, statistics, event
-- ending: {status, code, message, result, revision, usage}; absent values are ''
-- limits: {ttl, input_keep, records} in ms and records
local function end_task(keys, base, log, task, ending, limits, now)
  local task_key, input_key = base .. ':task:' .. task, base .. ':in:' .. task
  local record = redis.call('HMGET', task_key, 'kind', 'clientId', 'attempt')
  local kind, code = record[1], ending.code
  local stamp = touch(task_key, now)
  redis.call('HSET', task_key, 'status', ending.status, 'outcome', ending.status, 'finishedAt', stamp)
  local values = { result = ending.result, revision = ending.revision, usage = ending.usage, errorCode = code,
    errorMessage = ending.message }
  for field, value in pairs(values) do
    if value and value ~= '' then
      redis.call('HSET', task_key, field, value)
    end
  end
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
  note_wait(keys, workspace)
  if redis.call('LLEN', keys.pending) == 0 then
    redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)
    redis.call('PEXPIRE', keys.lane, IDLE_LANE_MS)
    redis.call('ZREM', keys.due, workspace)
    return '0'
  end
  if redis.call('HGET', keys.lane, 'hold') == '1' then
    redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)
    redis.call('ZADD', keys.due, now + HELD_LOOK_MS, workspace)
    return '0'
  end
  local stamp = string.format('%.0f', now)
  redis.call('HSET', keys.lane, 'doorbellAtMs', stamp, 'doorbells', 1)
  redis.call('ZADD', keys.due, now + doorbell_ms, workspace)
  return stamp
end
