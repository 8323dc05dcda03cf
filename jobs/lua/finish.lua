#!lua flags=allow-oom
-- End the running task, or hand it back to the lane's head, if claim, fence and task are still the lane's own.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input
-- ARGV: base, workspace, channel, epoch, claim id, fence, task id, status (completed | failed | queued), code, message,
--       result JSON, revision, usage JSON, memory_changed JSON, ttl ms, input keep ms, max records, doorbell ms
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when the lane is empty)
--          {'already'} this very end was written before; {'fenced'} the lane has gone on without us
-- Repeat-safe: a repeat answers 'already'.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], wait = KEYS[6] }
local due, stats, task_key, input_key = KEYS[5], KEYS[7], KEYS[9], KEYS[10]
local base, workspace, claim, fence, task, status = ARGV[1], ARGV[2], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local code, changed = ARGV[9], ARGV[14]
local limits = { ttl = tonumber(ARGV[15]), records = tonumber(ARGV[17]) }
local IDLE_LANE_MS = 30 * 86400000
local now = now_ms()

local lane = redis.call('HMGET', keys.lane, 'running', 'claim', 'fence', 'runningKind', 'leasedAtMs', 'avgMs')
if lane[1] ~= task or lane[2] ~= claim or lane[3] ~= fence then
  if redis.call('HGET', task_key, 'finishingFence') == fence then
    return { 'already' }
  end
  return { 'fenced' }
end

local kind = lane[4]
local record = redis.call('HMGET', task_key, 'clientId', 'acceptedMs', 'attempt')
local client = record[1] or ''
local stamp = touch(task_key, now)
redis.call('HSET', task_key, 'status', status, 'finishingFence', fence)

if status == 'queued' then
  -- handed back: the run does not count, the place in the line stays
  redis.call('LPUSH', keys.pending, element(kind, record[2], task))
  redis.call('HINCRBY', task_key, 'attempt', -1)
  redis.call('HINCRBY', task_key, 'releases', 1)
  task_event(log, 'task_queued', task, kind, ',"status":"queued","position":1', client, now)
else
  redis.call('HSET', task_key, 'outcome', status, 'finishedAt', stamp)
  local values = { result = ARGV[11], revision = ARGV[12], usage = ARGV[13], errorCode = code, errorMessage = ARGV[10] }
  for field, value in pairs(values) do
    if value ~= '' then
      redis.call('HSET', task_key, field, value)
    end
  end
  redis.call('PEXPIRE', task_key, limits.ttl)
  redis.call('PEXPIRE', input_key, ARGV[16])
  redis.call('ZADD', keys.done, now, task)
  redis.call('HINCRBY', stats, 'ended:' .. kind .. ':' .. (code ~= '' and code or status), 1)
  local facts = string.format(',"status":"%s","outcome":"%s","attempt":%s', status, status, record[3])
  if code ~= '' then
    facts = facts .. string.format(',"code":"%s"', code)
  end
  task_event(log, 'task_' .. status, task, kind, facts, client, now)
  if changed ~= '' then
    append_event(log, 'memory_changed', changed, client, now)
  end
  purge_records(keys, base, limits, now)
  local took = now - tonumber(lane[5])
  redis.call('HSET', keys.lane, 'avgMs', math.floor(((lane[6] or took) * 7 + took) / 8))
end

redis.call('HSET', keys.lane, 'running', '', 'runningKind', '', 'claim', '', 'expiresAtMs', 0, 'mode', '')
note_wait(keys, workspace)
if redis.call('LLEN', keys.pending) == 0 then
  redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)
  redis.call('PEXPIRE', keys.lane, IDLE_LANE_MS)
  redis.call('ZREM', due, workspace)
  return { 'ok', '0' }
end
local doorbell = string.format('%.0f', now)
redis.call('HSET', keys.lane, 'doorbellAtMs', doorbell, 'doorbells', 1)
redis.call('ZADD', due, now + tonumber(ARGV[18]), workspace)
return { 'ok', doorbell }
