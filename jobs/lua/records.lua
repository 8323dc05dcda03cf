-- Fragment of the scripts that end tasks or make room for them; it needs lane.lua.
-- KEYS: as lane.lua.  ARGV: none of its own.
-- Returns: nothing; defines what follows. Limits are {ttl, input_keep, records} in ms and records.

local function drop_record(task)
  redis.call('ZREM', keys.index, task)
  redis.call('ZREM', keys.done, task)
  redis.call('DEL', task_key(task), input_key(task))
end

-- drop records past their life, then the oldest ended ones over the cap; at most 64 of each per call
local function purge_records(limits, now)
  for _, task in ipairs(redis.call('ZRANGEBYSCORE', keys.done, '-inf', now - limits.ttl, 'LIMIT', 0, 64)) do
    drop_record(task)
  end
  local surplus = redis.call('ZCARD', keys.index) - limits.records
  if surplus > 0 then
    for _, task in ipairs(redis.call('ZRANGE', keys.done, 0, math.min(surplus, 64) - 1)) do
      drop_record(task)
    end
  end
end

-- write how a task ended: record, life, place among the ended, statistics, event
-- record: {kind, clientId, attempt, updatedAt} as they were.  code: '' if none.  ...: further fields, names and values
local function end_task(log, task, record, status, code, limits, ...)
  local key, now = task_key(task), log.now
  local kind, stamp = record[1], stamp_after(record[4], now)
  redis.call('HSET', key, 'status', status, 'outcome', status, 'updatedAt', stamp, 'finishedAt', stamp, ...)
  redis.call('PEXPIRE', key, limits.ttl)
  redis.call('PEXPIRE', input_key(task), limits.input_keep)
  redis.call('ZADD', keys.done, now, task)
  redis.call('HINCRBY', keys.stats, 'ended:' .. kind .. ':' .. (code ~= '' and code or status), 1)
  local facts = string.format(',"status":"%s","outcome":"%s","attempt":%s', status, status, record[3])
  if code ~= '' then
    facts = facts .. ',"code":"' .. code .. '"'
  end
  task_event(log, 'task_' .. status, task, kind, facts, record[2])
  purge_records(limits, now)
end
