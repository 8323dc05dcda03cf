#!lua flags=allow-oom
-- End the running task, or hand it back to the lane's head, if claim, fence and task are still the lane's own.
-- KEYS: lane, pending, index, done, due, wait, stats, events, task, input
-- ARGV: base, workspace, channel, epoch, claim id, fence, task id, status (completed | failed | cancelled | queued), code,
--       message, result JSON, revision, usage JSON, memory_changed JSON, ttl ms, input keep ms, max records, doorbell ms,
--       cause of a hand-back ('' counts as none: a shutdown)
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when nobody is to be called now)
--          {'already', doorbell} this very end was written before; {'fenced'} the lane has gone on without us
-- Repeat-safe: a repeat answers 'already'.
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7], task = KEYS[9] }
local base, workspace, claim, fence, task, status = ARGV[1], ARGV[2], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local log = { lane = KEYS[1], stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4] }
local changed, cause = ARGV[14], ARGV[19]
local limits = { ttl = tonumber(ARGV[15]), input_keep = ARGV[16], records = tonumber(ARGV[17]) }
local RELEASE_WINDOW_MS = 600000
local MAX_RELEASES = 5
local MAX_PAUSE_MS = 30000
local now = now_ms()

local lane = redis.call('HMGET', keys.lane, 'running', 'claim', 'fence', 'runningKind', 'leasedAtMs', 'avgMs', 'mode')
if lane[1] ~= task or lane[2] ~= claim or lane[3] ~= fence then
  if redis.call('HGET', keys.task, 'finishingFence') == fence then
    return { 'already', redis.call('HGET', keys.lane, 'doorbellAtMs') or '0' }
  end
  return { 'fenced' }
end
redis.call('HSET', keys.lane, 'running', '', 'runningKind', '', 'claim', '', 'expiresAtMs', 0, 'mode', '', 'recovered', '')

if status ~= 'queued' then
  local ending = { status = status, code = ARGV[9], message = ARGV[10], result = ARGV[11], revision = ARGV[12],
    usage = ARGV[13], fence = fence }
  end_task(keys, base, log, task, ending, limits, now)
  if changed ~= '' then
    append_event(log, 'memory_changed', changed, redis.call('HGET', keys.task, 'clientId') or '', now)
  end
  local took = now - tonumber(lane[5])
  redis.call('HSET', keys.lane, 'avgMs', math.floor(((lane[6] or took) * 7 + took) / 8))
  return { 'ok', settle(keys, workspace, tonumber(ARGV[18]), now) }
end

-- handed back: the place in the line stays, the run does not count; unless the same cause came up five times within
-- ten minutes, then this one counts, so that a host that can't do its work does not loop for ever
local record = redis.call('HMGET', keys.task, 'clientId', 'acceptedMs', 'releaseCause', 'releases', 'releasedSinceMs')
local releases = 0
if cause ~= '' then
  local again = record[3] == cause and now - tonumber(record[5]) < RELEASE_WINDOW_MS
  releases = again and tonumber(record[4]) + 1 or 1
  redis.call('HSET', keys.task, 'releaseCause', cause, 'releases', releases, 'releasedSinceMs',
    again and record[5] or string.format('%.0f', now))
end
if releases <= MAX_RELEASES and lane[7] == 'run' then -- resolving was no run
  redis.call('HINCRBY', keys.task, 'attempt', -1)
end
touch(keys.task, now)
redis.call('HSET', keys.task, 'status', 'queued', 'handedBack', 1, 'finishingFence', fence)
redis.call('LPUSH', keys.pending, element(lane[4], record[2], task))
task_event(log, 'task_queued', task, lane[4], ',"status":"queued","position":1', record[1] or '', now)
local doorbell = settle(keys, workspace, tonumber(ARGV[18]), now)
if cause == '' or doorbell == '0' then
  return { 'ok', doorbell }
end
-- what was in the way gets time to go: nobody is called now, the sweeper rings
redis.call('HSET', keys.lane, 'doorbellAtMs', 0, 'doorbells', 0)
redis.call('ZADD', keys.due, now + math.min(MAX_PAUSE_MS, 1000 * 2 ^ (releases - 1)), workspace)
return { 'ok', '0' }
