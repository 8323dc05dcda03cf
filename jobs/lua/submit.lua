-- Accept a task: record, place in the lane, caps, event and the doorbell's due time in one step.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input, idempotency (a lane key, unused without a key)
-- ARGV: base, workspace, channel, epoch, task id, kind, input JSON, client id or '', max pending, max upkeep (pending tasks
--       of other kinds than remember), max records, ttl ms, doorbell ms, request hash ('' without an idempotency key),
--       idempotency life ms, gate ('open', 'busy': the workers are far behind, only lanes that are busy, 'closed': nothing
--       new), and further fields of the record: names and values
-- Returns: {'ok', position, doorbell, accepted ms} (doorbell: ms to pass on, 0 when none is needed)
--          {'dup', task} this id, or this idempotency key, was accepted before; {'evicted'} it was, and is forgotten
--          {'mismatch'} the key was used for another request; {'full', average ms}; {'overloaded'}; {'closed'}
-- Repeat-safe: the same task id answers 'dup'.
-- Not allowed when Redis is out of memory: a task that can't be kept must not be accepted.
local lane, log = read_lane()
local now = lane.now
local task, input, idempotency = KEYS[9], KEYS[10], KEYS[11]
local task_id, kind, client = ARGV[5], ARGV[6], ARGV[8]
local max_pending, max_upkeep = tonumber(ARGV[9]), tonumber(ARGV[10])
local limits = { records = tonumber(ARGV[11]), ttl = tonumber(ARGV[12]) }
local doorbell_ms, request_hash, gate = tonumber(ARGV[13]), ARGV[14], ARGV[16]

if redis.call('EXISTS', task) == 1 then
  return { 'dup', task_id }
end
if request_hash ~= '' then
  local first = redis.call('HMGET', idempotency, 'task', 'hash')
  if first[1] and first[2] ~= request_hash then
    return { 'mismatch' }
  elseif first[1] then
    return { redis.call('EXISTS', task_key(first[1])) == 1 and 'dup' or 'evicted', first[1] }
  end
end

if gate == 'closed' then
  return { 'closed' }
end

-- counted each time from at most 16 elements: no counter that could drift
local queued = redis.call('LRANGE', keys.pending, 0, -1)
local running = is_running(lane)
local pending = #queued + (running and 1 or 0)
local upkeep = (running and lane.runningKind ~= 'remember') and 1 or 0
for _, item in ipairs(queued) do
  if string.sub(item, 1, 9) ~= 'remember:' then
    upkeep = upkeep + 1
  end
end
if pending >= max_pending or (kind ~= 'remember' and upkeep >= max_upkeep) then
  redis.call('HINCRBY', keys.stats, 'refused:' .. kind, 1)
  return { 'full', lane.avgMs or '0' }
end
if pending == 0 and gate == 'busy' then
  redis.call('HINCRBY', keys.stats, 'overloaded:' .. kind, 1)
  return { 'overloaded' }
end

local accepted, stamp, position = whole(now), rfc3339(now), #queued + 1
lane.seq = whole(tonumber(lane.seq or '0') + 1)
redis.call('HSET', task, 'taskId', task_id, 'workspaceId', workspace, 'kind', kind, 'seq', lane.seq, 'status', 'queued',
  'createdAt', stamp, 'updatedAt', stamp, 'acceptedMs', accepted, 'attempt', 0, unpack(ARGV, 17))
redis.call('SET', input, ARGV[7])
if request_hash ~= '' then
  redis.call('HSET', idempotency, 'task', task_id, 'hash', request_hash)
  redis.call('PEXPIRE', idempotency, ARGV[15])
end
redis.call('RPUSH', keys.pending, element(kind, accepted, task_id))
redis.call('ZADD', keys.index, lane.seq, task_id)
redis.call('HINCRBY', keys.stats, 'accepted:' .. kind, 1)
purge_records(limits, now)
task_event(log, 'task_queued', task_id, kind, ',"status":"queued","position":' .. position, client)
-- unless somebody runs, is on the way, or is not wanted yet
local doorbell = pending == 0 and settle(lane, doorbell_ms) or '0'
lane.life = false
save(lane, log)
return { 'ok', position, doorbell, accepted }
