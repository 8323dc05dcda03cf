#!lua flags=allow-oom
-- Take a workspace out of service: hold its lane, end all that is queued, delete everything once nothing runs.
-- KEYS: lane, pending, index, done, due, wait, stats, events, availability
-- ARGV: base, workspace, channel, epoch, code, message, ttl ms, input keep ms, max records, control channel
-- Returns: {'dropped'} nothing is left; {'running'} a task still runs and was told to stop, call again
-- Repeat-safe: on nothing it drops nothing.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7] }
local base, workspace = ARGV[1], ARGV[2]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local limits = { ttl = tonumber(ARGV[7]), input_keep = ARGV[8], records = tonumber(ARGV[9]) }
local now = now_ms()

redis.call('HSET', keys.lane, 'hold', 1)
for _, item in ipairs(redis.call('LRANGE', keys.pending, 0, -1)) do
  local _, _, task = element_parts(item)
  end_task(keys, base, log, task, { status = 'cancelled', code = ARGV[5], message = ARGV[6] }, limits, now)
end
redis.call('DEL', keys.pending)
redis.call('ZREM', keys.wait, workspace)
local running = redis.call('HGET', keys.lane, 'running')
if running and running ~= '' then
  redis.call('HSET', base .. ':task:' .. running, 'cancelRequested', 1)
  redis.call('PUBLISH', ARGV[10], workspace .. ' ' .. running)
  return { 'running' }
end
-- at most 1000 records and the 16 that were queued
for _, task in ipairs(redis.call('ZRANGE', keys.index, 0, -1)) do
  local idempotency = redis.call('HGET', base .. ':task:' .. task, 'idempotencyKey')
  redis.call('DEL', base .. ':task:' .. task, base .. ':in:' .. task, idempotency or base .. ':in:' .. task)
end
redis.call('DEL', keys.lane, keys.index, keys.done, KEYS[8], KEYS[9])
redis.call('ZREM', keys.due, workspace)
return { 'dropped' }
