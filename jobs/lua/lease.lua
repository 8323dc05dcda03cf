-- Fragment of the scripts that give leases; it needs lane.lua.
-- KEYS: as lane.lua.  ARGV: none of its own.
-- Returns: nothing; defines claim_lane. What is asked for is {claim, store, lease_ms, max_attempts, doorbell_ms}.

-- after a restart of Redis the holders get one lease's time to renew before anybody takes over
local function just_restarted(lease_ms)
  local ok, info = pcall(redis.call, 'INFO', 'server')
  local uptime = ok and type(info) == 'string' and tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  return uptime and uptime * 1000 < lease_ms
end

local function grant(lane, task)
  return { lane.mode, lane.fence, redis.call('GET', input_key(task)) or '{}', redis.call('HGETALL', task_key(task)) }
end

-- record: {attempt, cancelRequested, updatedAt, clientId, startedAt}
local function start(log, task, kind, record)
  local attempt, stamp = whole(tonumber(record[1] or '0') + 1), stamp_after(record[3], log.now)
  redis.call('HSET', task_key(task), 'status', 'running', 'attempt', attempt, 'updatedAt', stamp, 'startedAt',
    record[5] or stamp)
  task_event(log, 'task_running', task, kind, ',"status":"running","attempt":' .. attempt, record[4])
end

local function take(lane, log, asked, task, kind)
  local record = redis.call('HMGET', task_key(task), 'attempt', 'cancelRequested', 'updatedAt', 'clientId', 'startedAt',
    'progress')
  forget_progress(task, record[6])
  local now = lane.now
  -- a task that was cancelled after it had run may have committed: it is resolved, not run
  local is_run = tonumber(record[1] or '0') < asked.max_attempts and not record[2]
  lane.running, lane.runningKind, lane.mode = task, kind, is_run and 'run' or 'resolve'
  lane.claim, lane.storeId, lane.recovered, lane.is_leased = asked.claim, asked.store, '', true
  -- greater than any fence before, through expiry, restore and failover, while the server's clock stays ahead
  lane.fence = whole(math.max(tonumber(lane.fence or '0') + 1, now))
  lane.leasedAtMs, lane.expiresAtMs = whole(now), whole(now + asked.lease_ms)
  forget_doorbell(lane)
  lane.due, lane.wait = now + asked.lease_ms + DUE_SLACK_MS, false
  if is_run then
    start(log, task, kind, record)
  else
    redis.call('HSET', task_key(task), 'status', 'running')
  end
  return grant(lane, task)
end

local function claim_running(lane, log, asked)
  local now, expires = lane.now, tonumber(lane.expiresAtMs or '0')
  if lane.claim == asked.claim then
    return grant(lane, lane.running)
  end
  -- a holder that is proven dead (its slot lock was free) gets no grace
  if expires > now or (lane.recovered ~= '1' and just_restarted(asked.lease_ms)) then
    lane.due = math.max(expires, now) + DUE_SLACK_MS
    return { 'busy' }
  end
  return take(lane, log, asked, lane.running, lane.runningKind)
end

local function claim_lane(lane, log, asked)
  if lane.storeId and lane.storeId ~= asked.store then
    if is_running(lane) or has_pending() then
      lane.due = lane.now + asked.doorbell_ms -- another worker may be the right one
    end
    lane.wait = false -- it doesn't wait for want of workers
    return { 'foreign' }
  end
  if is_running(lane) then
    return claim_running(lane, log, asked)
  end
  if lane.hold == '1' then
    lane.due = lane.now + HELD_LOOK_MS
    return { 'held' }
  end
  local head = redis.call('LPOP', keys.pending)
  if not head then
    settle(lane, asked.doorbell_ms)
    return { 'idle' }
  end
  local kind, _, task = element_parts(head)
  return take(lane, log, asked, task, kind)
end
