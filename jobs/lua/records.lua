-- Fragment of the scripts that end tasks or make room for them; it needs lane.lua.
-- KEYS: as lane.lua.  ARGV: none of its own.
-- Returns: nothing; defines what follows. Limits are {ttl, input_keep, records} in ms and records.

-- drop records past their life, then the oldest ended ones over the cap; at most 64 of each per call
local function purge_records(state, limits)
  local keys = state.keys
  local function drop(task)
    redis.call('ZREM', keys.index, task)
    redis.call('ZREM', keys.done, task)
    redis.call('DEL', task_key(state, task), input_key(state, task))
  end
  for _, task in ipairs(redis.call('ZRANGEBYSCORE', keys.done, '-inf', state.now - limits.ttl, 'LIMIT', 0, 64)) do
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
-- record: kind, clientId, attempt, updatedAt as they were.  ending: fields of the record, status among them; '' is left out
local function end_task(state, task, record, ending, limits)
  local key, keys = task_key(state, task), state.keys
  local stamp = stamp_after(record.updatedAt, state.now)
  local fields = { outcome = ending.status, updatedAt = stamp, finishedAt = stamp }
  for name, value in pairs(ending) do
    fields[name] = value ~= '' and value or nil
  end
  write_fields(key, fields)
  redis.call('PEXPIRE', key, limits.ttl)
  redis.call('PEXPIRE', input_key(state, task), limits.input_keep)
  redis.call('ZADD', keys.done, state.now, task)
  redis.call('HINCRBY', keys.stats, string.format('ended:%s:%s', record.kind, fields.errorCode or ending.status), 1)
  local facts = string.format(',"status":"%s","outcome":"%s","attempt":%s', ending.status, ending.status, record.attempt)
  if fields.errorCode then
    facts = facts .. string.format(',"code":"%s"', fields.errorCode)
  end
  task_event(state.log, 'task_' .. ending.status, task, record.kind, facts, record.clientId or '')
  purge_records(state, limits)
end
