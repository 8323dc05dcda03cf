#!lua flags=allow-oom
-- Take the lane's lease if it is free, and with it the head task, or the task that a dead holder left.
-- KEYS: lane, pending, due, wait, events
-- ARGV: base, workspace, channel, epoch, claim id, lease ms, max attempts, doorbell ms, store id
-- Returns: {'run' | 'resolve', fence, input JSON, flat record} (resolve: the task has used up its attempts; find out how
--          it ended, don't run it)
--          {'busy'} another lease lives; {'idle'} nothing to do; {'held'} by an operator
--          {'foreign'} another memory store is registered
-- Repeat-safe: the same claim id gets the same grant again.
local keys = { lane = KEYS[1], pending = KEYS[2], due = KEYS[3], wait = KEYS[4] }
local base, workspace, claim = ARGV[1], ARGV[2], ARGV[5]
local log = { lane = KEYS[1], stream = KEYS[5], channel = ARGV[3], epoch = ARGV[4] }
local lease_ms, max_attempts, doorbell_ms = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local now = now_ms()

local function grant(mode, task, fence)
  local input = redis.call('GET', base .. ':in:' .. task) or '{}'
  return { mode, fence, input, redis.call('HGETALL', base .. ':task:' .. task) }
end

local function start(task, kind, record)
  local attempt = string.format('%.0f', tonumber(record[1] or '0') + 1)
  local stamp = stamp_after(record[3], now)
  redis.call('HSET', base .. ':task:' .. task, 'status', 'running', 'attempt', attempt, 'updatedAt', stamp, 'startedAt',
    record[5] or stamp)
  local facts = string.format(',"status":"running","attempt":%s', attempt)
  task_event(log, 'task_running', task, kind, facts, record[4] or '', now)
end

-- after a restart of Redis the holders get one lease's time to renew before anybody takes over
local function just_restarted()
  local ok, info = pcall(redis.call, 'INFO', 'server')
  local uptime = ok and type(info) == 'string' and tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  return uptime and uptime * 1000 < lease_ms
end

local lane = redis.call('HMGET', keys.lane, 'running', 'runningKind', 'claim', 'fence', 'expiresAtMs', 'storeId', 'hold',
  'recovered')
local running, fence_before = lane[1], tonumber(lane[4] or '0')
local expires_before = tonumber(lane[5] or '0')

if lane[6] and lane[6] ~= ARGV[9] then
  if (running and running ~= '') or redis.call('LLEN', keys.pending) > 0 then
    redis.call('ZADD', keys.due, now + doorbell_ms, workspace) -- another worker may be the right one
  end
  redis.call('ZREM', keys.wait, workspace) -- it doesn't wait for want of workers
  return { 'foreign' }
end

local function take(task, kind)
  local record = redis.call('HMGET', base .. ':task:' .. task, 'attempt', 'cancelRequested', 'updatedAt', 'clientId',
    'startedAt')
  -- a task that was cancelled after it had run may have committed: it is resolved, not run
  local mode = (tonumber(record[1] or '0') < max_attempts and not record[2]) and 'run' or 'resolve'
  -- greater than any fence before, through expiry, restore and failover, while the server's clock stays ahead
  local fence = string.format('%.0f', math.max(fence_before + 1, now))
  local expires = now + lease_ms
  redis.call('HSET', keys.lane, 'running', task, 'runningKind', kind, 'claim', claim, 'fence', fence, 'mode', mode,
    'storeId', ARGV[9], 'expiresAtMs', string.format('%.0f', expires), 'leasedAtMs', string.format('%.0f', now),
    'doorbellAtMs', 0, 'doorbells', 0, 'recovered', '')
  redis.call('ZADD', keys.due, expires + DUE_SLACK_MS, workspace)
  redis.call('ZREM', keys.wait, workspace)
  if mode == 'run' then
    start(task, kind, record)
  else
    redis.call('HSET', base .. ':task:' .. task, 'status', 'running')
  end
  return grant(mode, task, fence)
end

if running and running ~= '' then
  if lane[3] == claim then
    return grant(redis.call('HGET', keys.lane, 'mode'), running, lane[4])
  end
  -- a holder that is proven dead (its slot lock was free) gets no grace
  if expires_before > now or (lane[8] ~= '1' and just_restarted()) then
    redis.call('ZADD', keys.due, math.max(expires_before, now) + DUE_SLACK_MS, workspace)
    return { 'busy' }
  end
  return take(running, lane[2])
end

if lane[7] == '1' then
  redis.call('ZADD', keys.due, now + HELD_LOOK_MS, workspace)
  return { 'held' }
end
local head = redis.call('LPOP', keys.pending)
if not head then
  settle(keys, workspace, doorbell_ms, now)
  return { 'idle' }
end
local kind, _, task = element_parts(head)
return take(task, kind)
