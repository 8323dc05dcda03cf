-- Fragment of the scripts that give leases; it needs lane.lua.
-- KEYS: as lane.lua.  ARGV: none of its own.
-- Returns: nothing; defines claim_lane. What is asked for is {claim, store, lease_ms, max_attempts, doorbell_ms}.

-- after a restart of Redis the holders get one lease's time to renew before anybody takes over
local function just_restarted(lease_ms)
  local ok, info = pcall(redis.call, 'INFO', 'server')
  local uptime = ok and type(info) == 'string' and tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  return uptime and uptime * 1000 < lease_ms
end

local function by_name(flat)
  local record = {}
  for place = 1, #flat, 2 do
    record[flat[place]] = flat[place + 1]
  end
  return record
end

-- a flat record with further fields behind: of a name that comes twice the last value counts
local function with_changes(flat, changes)
  for name, value in pairs(changes) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  return flat
end

local function grant(state, mode, task, flat)
  return { mode, state.lane.fence, redis.call('GET', input_key(state, task)) or '{}', flat }
end

local function start(state, task, kind, record)
  local attempt, stamp = whole(tonumber(record.attempt or '0') + 1), stamp_after(record.updatedAt, state.now)
  local facts = string.format(',"status":"running","attempt":%s', attempt)
  task_event(state.log, 'task_running', task, kind, facts, record.clientId or '')
  return { status = 'running', attempt = attempt, updatedAt = stamp, startedAt = record.startedAt or stamp }
end

local function take(state, asked, task, kind)
  local now, flat = state.now, redis.call('HGETALL', task_key(state, task))
  local record = by_name(flat)
  -- a task that was cancelled after it had run may have committed: it is resolved, not run
  local is_run = tonumber(record.attempt or '0') < asked.max_attempts and not record.cancelRequested
  local mode, expires = is_run and 'run' or 'resolve', now + asked.lease_ms
  forget_doorbell(state)
  change(state, {
    running = task, runningKind = kind, mode = mode, claim = asked.claim, storeId = asked.store, recovered = '',
    -- greater than any fence before, through expiry, restore and failover, while the server's clock stays ahead
    fence = whole(math.max(tonumber(state.lane.fence or '0') + 1, now)),
    leasedAtMs = whole(now), expiresAtMs = whole(expires),
  })
  state.due, state.wait = expires + DUE_SLACK_MS, false
  local changes = is_run and start(state, task, kind, record) or { status = 'running' }
  write_fields(task_key(state, task), changes)
  return grant(state, mode, task, with_changes(flat, changes))
end

local function claim_running(state, asked)
  local lane, now = state.lane, state.now
  local task, expires = lane.running, tonumber(lane.expiresAtMs or '0')
  if lane.claim == asked.claim then
    return grant(state, lane.mode, task, redis.call('HGETALL', task_key(state, task)))
  end
  -- a holder that is proven dead (its slot lock was free) gets no grace
  if expires > now or (lane.recovered ~= '1' and just_restarted(asked.lease_ms)) then
    state.due = math.max(expires, now) + DUE_SLACK_MS
    return { 'busy' }
  end
  return take(state, asked, task, lane.runningKind)
end

local function claim_lane(state, asked)
  local lane = state.lane
  if lane.storeId and lane.storeId ~= asked.store then
    if is_running(state) or has_pending(state) then
      state.due = state.now + asked.doorbell_ms -- another worker may be the right one
    end
    state.wait = false -- it doesn't wait for want of workers
    return { 'foreign' }
  end
  if is_running(state) then
    return claim_running(state, asked)
  end
  if lane.hold == '1' then
    state.due = state.now + HELD_LOOK_MS
    return { 'held' }
  end
  local head = redis.call('LPOP', state.keys.pending)
  if not head then
    settle(state, asked.doorbell_ms)
    return { 'idle' }
  end
  local kind, _, task = element_parts(head)
  return take(state, asked, task, kind)
end
