#!lua flags=allow-oom
-- Cancel a task: at once while it has never run, else its worker is told, or the next claim resolves it first.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input
-- ARGV: base, workspace, channel, epoch, task id, code, message, ttl ms, input keep ms, max records, doorbell ms,
--       control channel
-- Returns: {'cancelled'}; {'cancelling'}; {'terminal'} it has ended already; {'gone'} there is no such task
-- Repeat-safe: a repeat of the first two answers 'terminal' or 'cancelling'.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7], task = KEYS[9] }
local base, workspace, task = ARGV[1], ARGV[2], ARGV[5]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local limits = { ttl = tonumber(ARGV[8]), input_keep = ARGV[9], records = tonumber(ARGV[10]) }
local now = now_ms()

local record = redis.call('HMGET', keys.task, 'status', 'kind', 'acceptedMs', 'attempt', 'handedBack')
local status = record[1]
if not status then
  return { 'gone' }
elseif status ~= 'queued' and status ~= 'running' then
  return { 'terminal' }
end
if status == 'queued' and record[4] == '0' and not record[5] then
  redis.call('LREM', keys.pending, 1, element(record[2], record[3], task))
  end_task(keys, base, log, task, { status = 'cancelled', code = ARGV[6], message = ARGV[7] }, limits, now)
  local running = redis.call('HGET', keys.lane, 'running')
  if (not running or running == '') and redis.call('LLEN', keys.pending) == 0 then
    settle(keys, workspace, tonumber(ARGV[11]), now)
  end
  return { 'cancelled' }
end
redis.call('HSET', keys.task, 'cancelRequested', 1)
touch(keys.task, now)
redis.call('PUBLISH', ARGV[12], workspace .. ' ' .. task)
return { 'cancelling' }
