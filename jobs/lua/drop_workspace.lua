#!lua flags=allow-oom
-- Take a workspace out of service: hold its lane, end all that is queued, delete everything once nothing runs. A task
-- that had run may have committed: it is left to be resolved first. Idempotency keys are the caller's to delete.
-- KEYS: lane, pending, index, done, due, wait, stats, events, availability
-- ARGV: base, workspace, channel, epoch, code, message, ttl ms, input keep ms, max records, control channel
-- Returns: {'dropped'} nothing is left; {'running'} a task still runs, or is to be resolved; it was told to stop, call
--          again
-- Repeat-safe: on nothing it drops nothing.
local lane, log = read_lane()
local code, message = ARGV[5], ARGV[6]
local limits = { ttl = tonumber(ARGV[7]), input_keep = ARGV[8], records = tonumber(ARGV[9]) }

lane.hold = '1'
redis.call('ZREM', keys.wait, workspace)
local unresolved = {}
for _, item in ipairs(redis.call('LRANGE', keys.pending, 0, -1)) do
  local _, _, task = element_parts(item)
  local record = redis.call('HMGET', task_key(task), 'kind', 'clientId', 'attempt', 'updatedAt', 'handedBack')
  if record[3] ~= '0' or record[5] then
    redis.call('HSET', task_key(task), 'cancelRequested', 1)
    unresolved[#unresolved + 1] = item
  else
    end_task(log, task, record, 'cancelled', code, limits, 'errorCode', code, 'errorMessage', message)
  end
end
redis.call('DEL', keys.pending)
if #unresolved > 0 then
  redis.call('RPUSH', keys.pending, unpack(unresolved))
end
if is_running(lane) then
  redis.call('HSET', task_key(lane.running), 'cancelRequested', 1)
  redis.call('PUBLISH', ARGV[10], workspace .. ' ' .. lane.running)
elseif #unresolved > 0 then
  lane.hold, lane.due, lane.wait = '0', lane.now, lane.now -- the sweeper rings
  forget_doorbell(lane)
end
save(lane, log)
if is_running(lane) or #unresolved > 0 then
  return { 'running' }
end
-- at most 1000 records and the 16 that were queued
for _, task in ipairs(redis.call('ZRANGE', keys.index, 0, -1)) do
  redis.call('DEL', task_key(task), input_key(task))
end
redis.call('DEL', keys.lane, keys.index, keys.done, log.stream, KEYS[9])
redis.call('ZREM', keys.due, workspace)
return { 'dropped' }
