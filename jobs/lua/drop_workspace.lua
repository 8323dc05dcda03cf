#!lua flags=allow-oom
-- Take a workspace out of service: hold its lane, end all that is queued, delete everything once nothing runs. A task
-- that had run may have committed: it is left to be resolved first. Idempotency keys are the caller's to delete.
-- KEYS: lane, pending, index, done, due, wait, stats, events, availability
-- ARGV: base, workspace, channel, epoch, code, message, ttl ms, input keep ms, max records, control channel
-- Returns: {'dropped'} nothing is left; {'running'} a task still runs, or is to be resolved; it was told to stop, call
--          again
-- Repeat-safe: on nothing it drops nothing.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7] }
local base, workspace = ARGV[1], ARGV[2]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local limits = { ttl = tonumber(ARGV[7]), input_keep = ARGV[8], records = tonumber(ARGV[9]) }
local now = now_ms()

redis.call('HSET', keys.lane, 'hold', 1)
local unresolved = {}
for _, item in ipairs(redis.call('LRANGE', keys.pending, 0, -1)) do
  local _, _, task = element_parts(item)
  local record = redis.call('HMGET', base .. ':task:' .. task, 'attempt', 'handedBack')
  if record[1] ~= '0' or record[2] then
    redis.call('HSET', base .. ':task:' .. task, 'cancelRequested', 1)
    unresolved[#unresolved + 1] = item
  else
    end_task(keys, base, log, task, { status = 'cancelled', code = ARGV[5], message = ARGV[6] }, limits, now)
  end
end
redis.call('DEL', keys.pending)
if #unresolved > 0 then
  redis.call('RPUSH', keys.pending, unpack(unresolved))
end
redis.call('ZREM', keys.wait, workspace)
local running = redis.call('HGET', keys.lane, 'running')
if running and running ~= '' then
  redis.call('HSET', base .. ':task:' .. running, 'cancelRequested', 1)
  redis.call('PUBLISH', ARGV[10], workspace .. ' ' .. running)
  return { 'running' }
end
if #unresolved > 0 then
  redis.call('HSET', keys.lane, 'hold', 0, 'doorbellAtMs', 0, 'doorbells', 0)
  redis.call('ZADD', keys.due, now, workspace) -- the sweeper rings
  redis.call('ZADD', keys.wait, now, workspace)
  return { 'running' }
end
-- at most 1000 records and the 16 that were queued
for _, task in ipairs(redis.call('ZRANGE', keys.index, 0, -1)) do
  redis.call('DEL', base .. ':task:' .. task, base .. ':in:' .. task)
end
redis.call('DEL', keys.lane, keys.index, keys.done, KEYS[8], KEYS[9])
redis.call('ZREM', keys.due, workspace)
return { 'dropped' }
