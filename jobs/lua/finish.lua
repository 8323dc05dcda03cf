#!lua flags=allow-oom
-- End the running task, or hand it back to the lane's head, if claim, fence and task are still the lane's own; and take
-- the lane's next task, if one is asked for, whatever became of the end.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, claim id, fence, task id, status (completed | failed | cancelled | queued), code,
--       message, result JSON, revision, usage JSON, memory_changed JSON, ttl ms, input keep ms, max records, doorbell ms,
--       cause of a hand-back ('' counts as none: a shutdown); then, if a next task is wanted, as claim.lua: claim id,
--       store id, lease ms, max attempts
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when nobody is to be called now)
--          {'already', doorbell} this very end was written before; {'fenced', '0'} the lane has gone on without us
--          with a next task wanted, what claim.lua returns follows, and nobody is to be called
-- Repeat-safe: a repeat answers 'already', and gets the same grant again.
local state = open_state()
local lane, now = state.lane, state.now
local claim, fence, task, status = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local changed, doorbell_ms, cause = ARGV[14], tonumber(ARGV[18]), ARGV[19]
local limits = { ttl = tonumber(ARGV[15]), input_keep = ARGV[16], records = tonumber(ARGV[17]) }
local RELEASE_WINDOW_MS = 600000
local MAX_RELEASES = 5
local MAX_PAUSE_MS = 30000

local function free_lane()
  change(state, { running = '', runningKind = '', claim = '', expiresAtMs = '0', mode = '', recovered = '' })
end

local function finish()
  local record = read_fields(task_key(state, task), { 'kind', 'clientId', 'attempt', 'updatedAt' })
  end_task(state, task, record, { status = status, errorCode = ARGV[9], errorMessage = ARGV[10], result = ARGV[11],
    revision = ARGV[12], usage = ARGV[13], finishingFence = fence }, limits)
  if changed ~= '' then
    append_event(state.log, 'memory_changed', changed, record.clientId or '')
  end
  local took = now - tonumber(lane.leasedAtMs)
  change(state, { avgMs = whole(math.floor(((lane.avgMs or took) * 7 + took) / 8)) })
  free_lane()
  return settle(state, doorbell_ms)
end

-- how often in a row the same cause came up within ten minutes, this time included; notes it
local function count_releases(record, fields)
  local again = record.releaseCause == cause and now - tonumber(record.releasedSinceMs) < RELEASE_WINDOW_MS
  local releases = again and tonumber(record.releases) + 1 or 1
  fields.releaseCause, fields.releases = cause, releases
  fields.releasedSinceMs = again and record.releasedSinceMs or whole(now)
  return releases
end

-- the place in the line stays, the run does not count; unless the same cause came up five times within ten minutes,
-- then this one counts, so that a host that can't do its work does not loop for ever
local function hand_back()
  local record = read_fields(task_key(state, task), { 'clientId', 'acceptedMs', 'attempt', 'updatedAt', 'releaseCause',
    'releases', 'releasedSinceMs' })
  local fields = { status = 'queued', handedBack = '1', finishingFence = fence,
    updatedAt = stamp_after(record.updatedAt, now) }
  local releases = cause ~= '' and count_releases(record, fields) or 0
  if releases <= MAX_RELEASES and lane.mode == 'run' then -- resolving was no run
    fields.attempt = whole(tonumber(record.attempt) - 1)
  end
  write_fields(task_key(state, task), fields)
  redis.call('LPUSH', state.keys.pending, element(lane.runningKind, record.acceptedMs, task))
  task_event(state.log, 'task_queued', task, lane.runningKind, ',"status":"queued","position":1', record.clientId or '')
  free_lane()
  local doorbell = settle(state, doorbell_ms)
  if cause == '' or doorbell == '0' then
    return doorbell
  end
  -- what was in the way gets time to go: nobody is called now, the sweeper rings
  forget_doorbell(state)
  state.due = now + math.min(MAX_PAUSE_MS, 1000 * 2 ^ (releases - 1))
  return '0'
end

local function answer_of_end()
  if lane.running == task and lane.claim == claim and lane.fence == fence then
    return 'ok', (status == 'queued' and hand_back or finish)()
  elseif redis.call('HGET', task_key(state, task), 'finishingFence') == fence then
    return 'already', lane.doorbellAtMs or '0'
  end
  return 'fenced', '0'
end

local answer, doorbell = answer_of_end()
local following = {}
if ARGV[20] then
  following = claim_lane(state, { claim = ARGV[20], store = ARGV[21], lease_ms = tonumber(ARGV[22]),
    max_attempts = tonumber(ARGV[23]), doorbell_ms = doorbell_ms })
end
save(state)
return { answer, doorbell, unpack(following) }
