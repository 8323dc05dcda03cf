-- Accept a task: record, place in the lane, caps, event and the doorbell's due time in one step.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input, idempotency (a lane key, unused without a key)
-- ARGV: base, workspace, channel, epoch, task id, kind, input JSON, context mode, scope, client id, request id,
--       max pending, max upkeep (pending tasks of other kinds than remember), max records, ttl ms, doorbell ms,
--       request hash ('' without an idempotency key), idempotency life ms,
--       gate ('open', 'busy': the workers are far behind, only lanes that are busy, 'closed': nothing new)
-- Returns: {'ok', position, doorbell, accepted ms} (doorbell: ms to pass on, 0 when none is needed)
--          {'dup', task} this id, or this idempotency key, was accepted before; {'evicted'} it was, and is forgotten
--          {'mismatch'} the key was used for another request; {'full', average ms}; {'overloaded'}; {'closed'}
-- Repeat-safe: the same task id answers 'dup'.
-- Not allowed when Redis is out of memory: a task that can't be kept must not be accepted.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7], task = KEYS[9], input = KEYS[10], idempotency = KEYS[11] }
local base, workspace, task, kind, client = ARGV[1], ARGV[2], ARGV[5], ARGV[6], ARGV[10]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local max_pending, max_upkeep = tonumber(ARGV[12]), tonumber(ARGV[13])
local limits = { records = tonumber(ARGV[14]), ttl = tonumber(ARGV[15]) }
local doorbell_ms, request_hash = tonumber(ARGV[16]), ARGV[17]

if redis.call('EXISTS', keys.task) == 1 then
  return { 'dup', task }
end
if request_hash ~= '' then
  local first = redis.call('HMGET', keys.idempotency, 'task', 'hash')
  if first[1] and first[2] ~= request_hash then
    return { 'mismatch' }
  elseif first[1] then
    return { redis.call('EXISTS', base .. ':task:' .. first[1]) == 1 and 'dup' or 'evicted', first[1] }
  end
end

if ARGV[19] == 'closed' then
  return { 'closed' }
end

-- counted each time from at most 16 elements: no counter that could drift
local queued = redis.call('LRANGE', keys.pending, 0, -1)
local lane = redis.call('HMGET', keys.lane, 'running', 'runningKind', 'avgMs')
local running = lane[1] and lane[1] ~= ''
local pending = #queued + (running and 1 or 0)
local upkeep = (running and lane[2] ~= 'remember') and 1 or 0
for _, item in ipairs(queued) do
  if element_parts(item) ~= 'remember' then
    upkeep = upkeep + 1
  end
end
if pending >= max_pending or (kind ~= 'remember' and upkeep >= max_upkeep) then
  redis.call('HINCRBY', keys.stats, 'refused:' .. kind, 1)
  return { 'full', lane[3] or '0' }
end
if pending == 0 and ARGV[19] == 'busy' then
  redis.call('HINCRBY', keys.stats, 'overloaded:' .. kind, 1)
  return { 'overloaded' }
end

local now = now_ms()
local accepted = string.format('%.0f', now)
local stamp = rfc3339(now)
local sequence = redis.call('HINCRBY', keys.lane, 'seq', 1)
redis.call('HSET', keys.task, 'taskId', task, 'workspaceId', workspace, 'kind', kind, 'seq', sequence, 'status', 'queued',
  'createdAt', stamp, 'updatedAt', stamp, 'acceptedMs', accepted, 'attempt', 0)
for field, value in pairs({ contextMode = ARGV[8], scope = ARGV[9], clientId = client, requestId = ARGV[11] }) do
  if value ~= '' then
    redis.call('HSET', keys.task, field, value)
  end
end
redis.call('SET', keys.input, ARGV[7])
if request_hash ~= '' then
  redis.call('HSET', keys.idempotency, 'task', task, 'hash', request_hash)
  redis.call('PEXPIRE', keys.idempotency, ARGV[18])
end
redis.call('RPUSH', keys.pending, element(kind, accepted, task))
redis.call('ZADD', keys.index, sequence, task)
redis.call('PERSIST', keys.lane)
redis.call('HINCRBY', keys.stats, 'accepted:' .. kind, 1)
purge_records(keys, base, limits, now)

local position = #queued + 1
task_event(log, 'task_queued', task, kind, string.format(',"status":"queued","position":%d', position), client, now)
if pending > 0 then -- somebody runs, is on the way, or is not wanted yet
  return { 'ok', position, '0', accepted }
end
return { 'ok', position, settle(keys, workspace, doorbell_ms, now), accepted }
