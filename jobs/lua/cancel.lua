#!lua flags=allow-oom
-- Cancel a task: at once while it has never run, else its worker is told, or the next claim resolves it first.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, task id, code, message, ttl ms, input keep ms, max records, doorbell ms,
--       control channel
-- Returns: {'cancelled'}; {'cancelling'}; {'terminal'} it has ended already; {'gone'} there is no such task
-- Repeat-safe: a repeat of the first two answers 'terminal' or 'cancelling'.
local lane, log = read_lane()
local task, code = ARGV[5], ARGV[6]
local limits = { ttl = tonumber(ARGV[8]), input_keep = ARGV[9], records = tonumber(ARGV[10]) }

local record = redis.call('HMGET', task_key(task), 'kind', 'clientId', 'attempt', 'updatedAt', 'status', 'acceptedMs',
  'handedBack')
local status = record[5]
if not status then
  return { 'gone' }
elseif status ~= 'queued' and status ~= 'running' then
  return { 'terminal' }
end
if status == 'queued' and record[3] == '0' and not record[7] then
  redis.call('LREM', keys.pending, 1, element(record[1], record[6], task))
  end_task(log, task, record, 'cancelled', code, limits, 'errorCode', code, 'errorMessage', ARGV[7])
  if not is_running(lane) and not has_pending() then
    settle(lane, tonumber(ARGV[11]))
  end
  save(lane, log)
  return { 'cancelled' }
end
redis.call('HSET', task_key(task), 'cancelRequested', 1, 'updatedAt', stamp_after(record[4], lane.now))
redis.call('PUBLISH', ARGV[12], workspace .. ' ' .. task)
return { 'cancelling' }
