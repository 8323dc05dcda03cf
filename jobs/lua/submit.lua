-- Accept a task: record, place in the lane, caps, event and the doorbell's due time in one step.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input
-- ARGV: base, workspace, channel, epoch, task id, kind, input JSON, context mode, scope, client id, request id,
--       max pending, max upkeep (pending tasks of other kinds than remember), max records, ttl ms, doorbell ms
-- Returns: {'ok', position, doorbell, accepted ms} (doorbell: ms to pass on, 0 when none is needed)
--          {'dup'} the task exists already; {'full', retry after ms}
-- Repeat-safe: the same task id answers 'dup'.
-- Not allowed when Redis is out of memory: a task that can't be kept must not be accepted.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], wait = KEYS[6] }
local due, stats, task_key, input_key = KEYS[5], KEYS[7], KEYS[9], KEYS[10]
local base, workspace, task, kind, client = ARGV[1], ARGV[2], ARGV[5], ARGV[6], ARGV[10]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local max_pending, max_upkeep = tonumber(ARGV[12]), tonumber(ARGV[13])
local limits = { records = tonumber(ARGV[14]), ttl = tonumber(ARGV[15]) }
local doorbell_ms = tonumber(ARGV[16])

if redis.call('EXISTS', task_key) == 1 then
  return { 'dup' }
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
  redis.call('HINCRBY', stats, 'refused:' .. kind, 1)
  return { 'full', lane[3] or '0' }
end

local now = now_ms()
local accepted = string.format('%.0f', now)
local stamp = rfc3339(now)
local sequence = redis.call('HINCRBY', keys.lane, 'seq', 1)
redis.call('HSET', task_key, 'taskId', task, 'workspaceId', workspace, 'kind', kind, 'seq', sequence, 'status', 'queued',
  'createdAt', stamp, 'updatedAt', stamp, 'acceptedMs', accepted, 'attempt', 0)
for field, value in pairs({ contextMode = ARGV[8], scope = ARGV[9], clientId = client, requestId = ARGV[11] }) do
  if value ~= '' then
    redis.call('HSET', task_key, field, value)
  end
end
redis.call('SET', input_key, ARGV[7])
redis.call('RPUSH', keys.pending, element(kind, accepted, task))
redis.call('ZADD', keys.index, sequence, task)
redis.call('PERSIST', keys.lane)
redis.call('HINCRBY', stats, 'accepted:' .. kind, 1)
note_wait(keys, workspace)
purge_records(keys, base, limits, now)

local position = #queued + 1
task_event(log, 'task_queued', task, kind, string.format(',"status":"queued","position":%d', position), client, now)

local doorbell = tonumber(redis.call('HGET', keys.lane, 'doorbellAtMs') or '0')
if running or doorbell > 0 then
  return { 'ok', position, '0', accepted }
end
redis.call('HSET', keys.lane, 'doorbellAtMs', accepted, 'doorbells', 1)
redis.call('ZADD', due, now + doorbell_ms, workspace)
return { 'ok', position, accepted, accepted }
