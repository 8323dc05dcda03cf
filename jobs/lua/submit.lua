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
local state = open_state()
local keys, lane, now = state.keys, state.lane, state.now
local task, input, idempotency = KEYS[9], KEYS[10], KEYS[11]
local task_id, kind, client = ARGV[5], ARGV[6], ARGV[10]
local max_pending, max_upkeep = tonumber(ARGV[12]), tonumber(ARGV[13])
local limits = { records = tonumber(ARGV[14]), ttl = tonumber(ARGV[15]) }
local doorbell_ms, request_hash = tonumber(ARGV[16]), ARGV[17]

if redis.call('EXISTS', task) == 1 then
  return { 'dup', task_id }
end
if request_hash ~= '' then
  local first = read_fields(idempotency, { 'task', 'hash' })
  if first.task and first.hash ~= request_hash then
    return { 'mismatch' }
  elseif first.task then
    return { redis.call('EXISTS', task_key(state, first.task)) == 1 and 'dup' or 'evicted', first.task }
  end
end

if ARGV[19] == 'closed' then
  return { 'closed' }
end

-- counted each time from at most 16 elements: no counter that could drift
local queued = redis.call('LRANGE', keys.pending, 0, -1)
local running = is_running(state)
local pending = #queued + (running and 1 or 0)
local upkeep = (running and lane.runningKind ~= 'remember') and 1 or 0
for _, item in ipairs(queued) do
  if element_parts(item) ~= 'remember' then
    upkeep = upkeep + 1
  end
end
if pending >= max_pending or (kind ~= 'remember' and upkeep >= max_upkeep) then
  redis.call('HINCRBY', keys.stats, 'refused:' .. kind, 1)
  return { 'full', lane.avgMs or '0' }
end
if pending == 0 and ARGV[19] == 'busy' then
  redis.call('HINCRBY', keys.stats, 'overloaded:' .. kind, 1)
  return { 'overloaded' }
end

local accepted, stamp = whole(now), rfc3339(now)
local sequence = whole(tonumber(lane.seq or '0') + 1)
local record = { taskId = task_id, workspaceId = state.workspace, kind = kind, seq = sequence, status = 'queued',
  createdAt = stamp, updatedAt = stamp, acceptedMs = accepted, attempt = '0' }
for field, value in pairs({ contextMode = ARGV[8], scope = ARGV[9], clientId = client, requestId = ARGV[11] }) do
  record[field] = value ~= '' and value or nil
end
write_fields(task, record)
redis.call('SET', input, ARGV[7])
if request_hash ~= '' then
  write_fields(idempotency, { task = task_id, hash = request_hash })
  redis.call('PEXPIRE', idempotency, ARGV[18])
end
redis.call('RPUSH', keys.pending, element(kind, accepted, task_id))
redis.call('ZADD', keys.index, sequence, task_id)
redis.call('HINCRBY', keys.stats, 'accepted:' .. kind, 1)
purge_records(state, limits)

local position = #queued + 1
task_event(state.log, 'task_queued', task_id, kind, string.format(',"status":"queued","position":%d', position), client)
change(state, { seq = sequence })
-- unless somebody runs, is on the way, or is not wanted yet
local doorbell = pending == 0 and settle(state, doorbell_ms) or '0'
state.life = false
save(state)
return { 'ok', position, doorbell, accepted }
