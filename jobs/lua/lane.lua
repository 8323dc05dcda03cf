-- Fragment of the scripts that change a lane: it is read in one call, decided on in memory, and written in one call.
-- A call that writes costs the server most, then a table that grows; so commands get their arguments spelt out.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch
-- Returns: nothing; defines what follows. A lane has its hash's fields as they are to be, false where absent, and
--   now: Redis time, ms; due: when it needs attention, ms, false: never; wait: since when it waits, unless it does
--   already, false: it does not; life: ms that it is kept from now, false: for good; each nil: as it was
--   is_leased: fields of the lease are to be written, too

local IDLE_LANE_MS = 30 * 86400000
local keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
  stats = KEYS[7] }
local base, workspace = ARGV[1], ARGV[2]

local function read_lane()
  local now = now_ms()
  local row = redis.call('HMGET', keys.lane, 'running', 'runningKind', 'mode', 'claim', 'fence', 'leasedAtMs',
    'expiresAtMs', 'recovered', 'avgMs', 'storeId', 'seq', 'hold', 'doorbellAtMs', 'doorbells', 'eventSeq', 'eventEpoch',
    'eventReplid')
  local lane = { now = now, running = row[1], runningKind = row[2], mode = row[3], claim = row[4], fence = row[5],
    leasedAtMs = row[6], expiresAtMs = row[7], recovered = row[8], avgMs = row[9], storeId = row[10], seq = row[11],
    hold = row[12], doorbellAtMs = row[13], doorbells = row[14], eventSeq = row[15], due = nil, wait = nil, life = nil,
    is_leased = false }
  local log = { lane = keys.lane, stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4], now = now, at = nil,
    last = row[15], known_epoch = row[16], known_replid = row[17] }
  return lane, log
end

local function is_running(lane)
  return lane.running and lane.running ~= ''
end

local function has_pending()
  return redis.call('LLEN', keys.pending) > 0
end

local function task_key(task)
  return base .. ':task:' .. task
end

local function input_key(task)
  return base .. ':in:' .. task
end

-- all values are ids, codes and integers of ours: nothing needs escaping
local function task_event(log, event_type, task, kind, facts, client)
  append_event(log, event_type, string.format('{"taskId":"%s","kind":"%s"%s}', task, kind, facts), client or '')
end

-- a run that is over is nowhere any more; progress: the record's field, false when it has none
local function forget_progress(task, progress)
  if progress then
    redis.call('HDEL', task_key(task), 'progress')
  end
end

local function forget_doorbell(lane)
  lane.doorbellAtMs, lane.doorbells = '0', '0'
end

-- the lane has nothing running: ask for a doorbell if it has work, else let it rest
-- returns the doorbell's stamp as text, '0' when none is to be rung
local function settle(lane, doorbell_ms)
  local held, has_work = lane.hold == '1', has_pending()
  if has_work and not held then
    lane.doorbellAtMs, lane.doorbells = whole(lane.now), '1'
    lane.due, lane.wait = lane.now + doorbell_ms, lane.now
    return lane.doorbellAtMs
  end
  forget_doorbell(lane)
  lane.wait = false
  lane.due = has_work and lane.now + HELD_LOOK_MS
  lane.life = not has_work and not held and IDLE_LANE_MS
  return '0'
end

local function save_places(lane)
  if lane.due then
    redis.call('ZADD', keys.due, lane.due, workspace)
  elseif lane.due == false then
    redis.call('ZREM', keys.due, workspace)
  end
  if lane.wait then
    redis.call('ZADD', keys.wait, 'NX', lane.wait, workspace)
  elseif lane.wait == false then
    redis.call('ZREM', keys.wait, workspace)
  end
end

local function save(lane, log)
  local event_seq = ring_log(log) or lane.eventSeq or '0'
  if lane.is_leased then
    redis.call('HSET', keys.lane, 'running', lane.running, 'runningKind', lane.runningKind, 'mode', lane.mode, 'claim',
      lane.claim, 'fence', lane.fence, 'leasedAtMs', lane.leasedAtMs, 'expiresAtMs', lane.expiresAtMs, 'recovered',
      lane.recovered, 'avgMs', lane.avgMs or '0', 'storeId', lane.storeId, 'doorbellAtMs', lane.doorbellAtMs, 'doorbells',
      lane.doorbells, 'eventSeq', event_seq)
  else
    redis.call('HSET', keys.lane, 'seq', lane.seq or '0', 'hold', lane.hold or '0', 'doorbellAtMs',
      lane.doorbellAtMs or '0', 'doorbells', lane.doorbells or '0', 'eventSeq', event_seq)
  end
  save_places(lane)
  if lane.life then
    redis.call('PEXPIRE', keys.lane, lane.life)
  elseif lane.life == false then
    redis.call('PERSIST', keys.lane)
  end
end
