-- Accept a task: record, place in the lane, caps, event and the doorbell's due time in one step.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input, and the idempotency keys, if any
-- ARGV: base, workspace, channel, epoch, task id, kind, input JSON, client id or '', max pending, max upkeep (pending tasks
--       of other kinds than remember), max records, ttl ms, doorbell ms, request hash, idempotency life ms, gate ('open',
--       'busy': the workers are far behind, only lanes that are busy, 'closed': nothing new), task whose input is taken in
--       the place of the JSON or '', and further fields of the record: names and values
-- Returns: {'ok', position, doorbell, accepted ms} (doorbell: ms to pass on, 0 when none is needed)
--          {'dup', task, number} this task was accepted before, as the idempotency key with this number tells, from 1; 0:
--          it is this very id; {'evicted'} a key made a task that is forgotten; {'mismatch'} it was for another request
--          {'input_gone'} the input to take is not kept any more; {'overloaded'}; {'closed'}
--          {'full', average ms, ends, ran ms}: room comes with so many ends (0: the lane is held), the first task has run
--          so long
-- Repeat-safe: the same task id answers 'dup'.
-- Not allowed when Redis is out of memory: a task that can't be kept must not be accepted.
local FIRST_IDEMPOTENCY = 11
local lane, log = read_lane()
local now = lane.now
local task, input = KEYS[9], KEYS[10]
local task_id, kind, client = ARGV[5], ARGV[6], ARGV[8]
local max_pending, max_upkeep = tonumber(ARGV[9]), tonumber(ARGV[10])
local limits = { records = tonumber(ARGV[11]), ttl = tonumber(ARGV[12]) }
local doorbell_ms, request_hash, gate, retried = tonumber(ARGV[13]), ARGV[14], ARGV[16], ARGV[17]

-- the first idempotency key that made a task, that task, and the hash of its request
local function known_key()
  for at = FIRST_IDEMPOTENCY, #KEYS do
    local first = redis.call('HMGET', KEYS[at], 'task', 'hash')
    if first[1] then
      return at, first[1], first[2]
    end
  end
end

-- let the idempotency keys up to this one lead to a task
local function remember_keys(to, made)
  for at = FIRST_IDEMPOTENCY, to do
    redis.call('HSET', KEYS[at], 'task', made, 'hash', request_hash)
    redis.call('PEXPIRE', KEYS[at], ARGV[15])
  end
end

if redis.call('EXISTS', task) == 1 then
  return { 'dup', task_id, 0 }
end
local known_at, made, hash = known_key()
if known_at and hash ~= request_hash then
  return { 'mismatch' }
elseif known_at and redis.call('EXISTS', task_key(made)) == 0 then
  return { 'evicted' }
elseif known_at then
  remember_keys(known_at - 1, made)
  return { 'dup', made, known_at - FIRST_IDEMPOTENCY + 1 }
end
local text = retried == '' and ARGV[7] or redis.call('GET', input_key(retried))
if not text then
  return { 'input_gone' }
end

if gate == 'closed' then
  return { 'closed' }
end

-- counted each time from at most 16 elements: no counter that could drift
local queued = redis.call('LRANGE', keys.pending, 0, -1)
local running = is_running(lane)
local pending = #queued + (running and 1 or 0)
local upkeep = (running and lane.runningKind ~= 'remember') and 1 or 0
local first_upkeep = upkeep -- its place, from 1
for at, item in ipairs(queued) do
  if string.sub(item, 1, 9) ~= 'remember:' then
    upkeep = upkeep + 1
    first_upkeep = first_upkeep > 0 and first_upkeep or pending - #queued + at
  end
end
local is_upkeep_full = kind ~= 'remember' and upkeep >= max_upkeep
if pending >= max_pending or is_upkeep_full then
  redis.call('HINCRBY', keys.stats, 'refused:' .. kind, 1)
  local ends = is_upkeep_full and first_upkeep or 1
  local is_stuck = lane.hold == '1' and not (running and ends == 1)
  return { 'full', lane.avgMs or '0', is_stuck and 0 or ends, running and now - tonumber(lane.leasedAtMs) or 0 }
end
if pending == 0 and gate == 'busy' then
  redis.call('HINCRBY', keys.stats, 'overloaded:' .. kind, 1)
  return { 'overloaded' }
end

local accepted, stamp, position = whole(now), rfc3339(now), #queued + 1
lane.seq = whole(tonumber(lane.seq or '0') + 1)
redis.call('HSET', task, 'taskId', task_id, 'workspaceId', workspace, 'kind', kind, 'seq', lane.seq, 'status', 'queued',
  'createdAt', stamp, 'updatedAt', stamp, 'acceptedMs', accepted, 'attempt', 0, unpack(ARGV, 18))
redis.call('SET', input, text)
remember_keys(#KEYS, task_id)
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
