-- Fragment of the scripts that change a lane: it is read once, decided on in memory and written once, by `save`.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch
-- Returns: nothing; defines what follows. A state is {keys, base, workspace, log, now, lane, changes, due, wait, life}:
--   lane: LANE_FIELDS by name as they are to be; changes: those of them that are to be written
--   due: when the lane needs attention, ms; false: never.  wait: since when it waits, unless it does already; false: it
--   does not.  life: ms that it is kept from now; false: for good.  nil: as it was

local IDLE_LANE_MS = 30 * 86400000
local LANE_FIELDS = { 'seq', 'running', 'runningKind', 'mode', 'claim', 'fence', 'leasedAtMs', 'expiresAtMs', 'recovered',
  'doorbellAtMs', 'avgMs', 'hold', 'storeId', unpack(EVENT_FIELDS) }

local function open_state()
  return {
    keys = { lane = KEYS[1], pending = KEYS[2], index = KEYS[3], done = KEYS[4], due = KEYS[5], wait = KEYS[6],
      stats = KEYS[7] },
    base = ARGV[1],
    workspace = ARGV[2],
    log = { stream = KEYS[8], channel = ARGV[3], epoch = ARGV[4], events = {} },
    now = now_ms(),
    lane = read_fields(KEYS[1], LANE_FIELDS),
    changes = {},
  }
end

local function change(state, fields)
  for name, value in pairs(fields) do
    state.lane[name] = value
    state.changes[name] = value
  end
end

local function is_running(state)
  return state.lane.running ~= nil and state.lane.running ~= ''
end

local function has_pending(state)
  return redis.call('LLEN', state.keys.pending) > 0
end

local function task_key(state, task)
  return state.base .. ':task:' .. task
end

local function input_key(state, task)
  return state.base .. ':in:' .. task
end

-- all values are ids, codes and integers of ours: nothing needs escaping
local function task_event(log, event_type, task, kind, facts, client)
  append_event(log, event_type, string.format('{"taskId":"%s","kind":"%s"%s}', task, kind, facts), client)
end

local function forget_doorbell(state)
  change(state, { doorbellAtMs = '0', doorbells = '0' })
end

-- the lane has nothing running: ask for a doorbell if it has work, else let it rest
-- returns the doorbell's stamp as text, '0' when none is to be rung
local function settle(state, doorbell_ms)
  local held, has_work = state.lane.hold == '1', has_pending(state)
  if has_work and not held then
    change(state, { doorbellAtMs = whole(state.now), doorbells = '1' })
    state.due, state.wait = state.now + doorbell_ms, state.now
    return state.lane.doorbellAtMs
  end
  forget_doorbell(state)
  state.wait = false
  state.due = has_work and state.now + HELD_LOOK_MS
  state.life = not has_work and not held and IDLE_LANE_MS
  return '0'
end

local function save(state)
  local keys, workspace = state.keys, state.workspace
  change(state, write_events(state.log, state.lane, state.now) or {})
  write_fields(keys.lane, state.changes)
  if state.due then
    redis.call('ZADD', keys.due, state.due, workspace)
  elseif state.due == false then
    redis.call('ZREM', keys.due, workspace)
  end
  if state.wait then
    redis.call('ZADD', keys.wait, 'NX', state.wait, workspace)
  elseif state.wait == false then
    redis.call('ZREM', keys.wait, workspace)
  end
  if state.life then
    redis.call('PEXPIRE', keys.lane, state.life)
  elseif state.life == false then
    redis.call('PERSIST', keys.lane)
  end
  state.changes = {}
end
