#!lua flags=allow-oom
-- Take a workspace out of service: hold its lane, end all that is queued, delete everything once nothing runs. A task
-- that had run may have committed: it is left to be resolved first. Idempotency keys are the caller's to delete.
-- KEYS: lane, pending, index, done, due, wait, stats, events, availability
-- ARGV: base, workspace, channel, epoch, code, message, ttl ms, input keep ms, max records, control channel
-- Returns: {'dropped'} nothing is left; {'running'} a task still runs, or is to be resolved; it was told to stop, call
--          again
-- Repeat-safe: on nothing it drops nothing.
local state = open_state()
local keys, workspace, now = state.keys, state.workspace, state.now
local limits = { ttl = tonumber(ARGV[7]), input_keep = ARGV[8], records = tonumber(ARGV[9]) }

local function ask_to_stop(task)
  write_fields(task_key(state, task), { cancelRequested = '1' })
end

change(state, { hold = '1' })
redis.call('ZREM', keys.wait, workspace)
local unresolved = {}
for _, item in ipairs(redis.call('LRANGE', keys.pending, 0, -1)) do
  local _, _, task = element_parts(item)
  local record = read_fields(task_key(state, task), { 'kind', 'clientId', 'attempt', 'updatedAt', 'handedBack' })
  if record.attempt ~= '0' or record.handedBack then
    ask_to_stop(task)
    unresolved[#unresolved + 1] = item
  else
    end_task(state, task, record, { status = 'cancelled', errorCode = ARGV[5], errorMessage = ARGV[6] }, limits)
  end
end
redis.call('DEL', keys.pending)
if #unresolved > 0 then
  redis.call('RPUSH', keys.pending, unpack(unresolved))
end
if is_running(state) then
  ask_to_stop(state.lane.running)
  redis.call('PUBLISH', ARGV[10], workspace .. ' ' .. state.lane.running)
  save(state)
  return { 'running' }
end
if #unresolved > 0 then
  change(state, { hold = '0' })
  forget_doorbell(state)
  state.due, state.wait = now, now -- the sweeper rings
  save(state)
  return { 'running' }
end
save(state)
-- at most 1000 records and the 16 that were queued
for _, task in ipairs(redis.call('ZRANGE', keys.index, 0, -1)) do
  redis.call('DEL', task_key(state, task), input_key(state, task))
end
redis.call('DEL', keys.lane, keys.index, keys.done, state.log.stream, KEYS[9])
redis.call('ZREM', keys.due, workspace)
return { 'dropped' }
