#!lua flags=allow-oom
-- Cancel a task: at once while it has never run, else its worker is told, or the next claim resolves it first.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, task id, code, message, ttl ms, input keep ms, max records, doorbell ms,
--       control channel
-- Returns: {'cancelled'}; {'cancelling'}; {'terminal'} it has ended already; {'gone'} there is no such task
-- Repeat-safe: a repeat of the first two answers 'terminal' or 'cancelling'.
local state = open_state()
local task = ARGV[5]
local limits = { ttl = tonumber(ARGV[8]), input_keep = ARGV[9], records = tonumber(ARGV[10]) }

local record = read_fields(task_key(state, task), { 'status', 'kind', 'clientId', 'acceptedMs', 'attempt', 'updatedAt',
  'handedBack' })
local status = record.status
if not status then
  return { 'gone' }
elseif status ~= 'queued' and status ~= 'running' then
  return { 'terminal' }
end
if status == 'queued' and record.attempt == '0' and not record.handedBack then
  redis.call('LREM', state.keys.pending, 1, element(record.kind, record.acceptedMs, task))
  end_task(state, task, record, { status = 'cancelled', errorCode = ARGV[6], errorMessage = ARGV[7] }, limits)
  if not is_running(state) and not has_pending(state) then
    settle(state, tonumber(ARGV[11]))
  end
  save(state)
  return { 'cancelled' }
end
write_fields(task_key(state, task), { cancelRequested = '1', updatedAt = stamp_after(record.updatedAt, state.now) })
redis.call('PUBLISH', ARGV[12], state.workspace .. ' ' .. task)
return { 'cancelling' }
