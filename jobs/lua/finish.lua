#!lua flags=allow-oom
-- End the running task, or hand it back to the lane's head, if claim, fence and task are still the lane's own; and take
-- the lane's next task, if one is asked for, whatever became of the end.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, claim id, fence, task id, status (completed | failed | cancelled | queued), code,
--       memory_changed JSON, cause of a hand-back ('' counts as none: a shutdown), ttl ms, input keep ms, max records,
--       doorbell ms, then as claim.lua for a next task: claim id ('' if none is wanted), store id, lease ms, max attempts,
--       and the record's fields that tell how it ended: names and values
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when nobody is to be called now)
--          {'already', doorbell} this very end was written before; {'fenced', '0'} the lane has gone on without us
--          with a next task wanted, what claim.lua returns follows, and nobody is to be called
-- Repeat-safe: a repeat answers 'already', and gets the same grant again.
local lane, log = read_lane()
local now = lane.now
local claim, fence, task, status, code = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local changed, cause = ARGV[10], ARGV[11]
local limits = { ttl = tonumber(ARGV[12]), input_keep = ARGV[13], records = tonumber(ARGV[14]) }
local doorbell_ms = tonumber(ARGV[15])
local RELEASE_WINDOW_MS = 600000
local MAX_RELEASES = 5
local MAX_PAUSE_MS = 30000

local function free_lane()
  lane.running, lane.runningKind, lane.mode, lane.claim, lane.recovered = '', '', '', '', ''
  lane.expiresAtMs, lane.is_leased = '0', true
end

local function finish()
  local record = redis.call('HMGET', task_key(task), 'kind', 'clientId', 'attempt', 'updatedAt', 'progress')
  forget_progress(task, record[5])
  end_task(log, task, record, status, code, limits, 'finishingFence', fence, unpack(ARGV, 20))
  if changed ~= '' then
    append_event(log, 'memory_changed', changed, record[2] or '')
  end
  local took, average = now - tonumber(lane.leasedAtMs), tonumber(lane.avgMs or '0')
  lane.avgMs = whole(math.floor(((average > 0 and average or took) * 7 + took) / 8))
  free_lane()
  return settle(lane, doorbell_ms)
end

-- how often in a row the same cause came up within ten minutes, this time included; notes it
local function count_releases(before, count, since)
  local again = before == cause and now - tonumber(since) < RELEASE_WINDOW_MS
  local releases = again and tonumber(count) + 1 or 1
  redis.call('HSET', task_key(task), 'releaseCause', cause, 'releases', releases, 'releasedSinceMs',
    again and since or whole(now))
  return releases
end

-- the place in the line stays, the run does not count; unless the same cause came up five times within ten minutes,
-- then this one counts, so that a host that can't do its work does not loop for ever
local function hand_back()
  local record = redis.call('HMGET', task_key(task), 'clientId', 'acceptedMs', 'attempt', 'updatedAt', 'releaseCause',
    'releases', 'releasedSinceMs', 'progress')
  forget_progress(task, record[8])
  local releases = cause ~= '' and count_releases(record[5], record[6], record[7]) or 0
  local counts = releases > MAX_RELEASES or lane.mode ~= 'run' -- resolving was no run
  redis.call('HSET', task_key(task), 'status', 'queued', 'handedBack', 1, 'finishingFence', fence, 'updatedAt',
    stamp_after(record[4], now), 'attempt', record[3] - (counts and 0 or 1))
  redis.call('LPUSH', keys.pending, element(lane.runningKind, record[2], task))
  task_event(log, 'task_queued', task, lane.runningKind, ',"status":"queued","position":1', record[1])
  free_lane()
  local doorbell = settle(lane, doorbell_ms)
  if cause == '' or doorbell == '0' then
    return doorbell
  end
  -- what was in the way gets time to go: nobody is called now, the sweeper rings
  forget_doorbell(lane)
  lane.due = now + math.min(MAX_PAUSE_MS, 1000 * 2 ^ (releases - 1))
  return '0'
end

local function answer_of_end()
  if lane.running == task and lane.claim == claim and lane.fence == fence then
    return 'ok', (status == 'queued' and hand_back or finish)()
  elseif redis.call('HGET', task_key(task), 'finishingFence') == fence then
    return 'already', lane.doorbellAtMs or '0'
  end
  return 'fenced', '0'
end

local answer, doorbell = answer_of_end()
local following = {}
if ARGV[16] ~= '' then
  following = claim_lane(lane, log, { claim = ARGV[16], store = ARGV[17], lease_ms = tonumber(ARGV[18]),
    max_attempts = tonumber(ARGV[19]), doorbell_ms = doorbell_ms })
end
if lane.is_leased or following[1] == 'idle' then
  save(lane, log)
else
  save_places(lane)
end
return { answer, doorbell, unpack(following) }
