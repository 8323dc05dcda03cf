#!lua flags=allow-oom
-- Find the lanes of one partition that need a doorbell: expired leases and doorbells that led to nothing.
-- KEYS: due, wait
-- ARGV: partition prefix, doorbell ms, stamp of the oldest doorbell still in the broker ('' unknown, '0' it is empty)
-- Returns: {waiting lanes, oldest wait ms, workspace, doorbell ms, ...} for at most 100 lanes
-- Repeat-safe: each lane's due time has moved, so concurrent sweepers never ring for the same lane twice.
local prefix, doorbell_ms = ARGV[1], tonumber(ARGV[2])
local oldest = tonumber(ARGV[3])
local MAX_BACKOFF_MS = 30000
local ALWAYS_AFTER_MS = 120000
local now = now_ms()
local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local answer = { redis.call('ZCARD', KEYS[2]), head[2] and string.format('%.0f', math.max(0, now - head[2])) or '0' }

local function ring(workspace, lane_key, doorbells)
  local stamp = string.format('%.0f', now)
  redis.call('HSET', lane_key, 'doorbellAtMs', stamp, 'doorbells', doorbells + 1)
  redis.call('ZADD', KEYS[1], now + math.min(MAX_BACKOFF_MS, doorbell_ms * 2 ^ math.min(doorbells, 10)), workspace)
  answer[#answer + 1] = workspace
  answer[#answer + 1] = stamp
end

-- the broker's list is first in, first out: a doorbell not older than its head is still in it (one that was passed on may
-- be taken for lost: it is rung once too often)
local function still_queued(rung)
  return oldest and oldest > 0 and rung >= oldest and now - rung < ALWAYS_AFTER_MS
end

for _, workspace in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 100)) do
  local base = prefix .. ':' .. workspace
  local lane_key = base .. ':lane'
  local lane = redis.call('HMGET', lane_key, 'running', 'expiresAtMs', 'doorbells', 'doorbellAtMs', 'hold')
  local expires, doorbells, rung = tonumber(lane[2] or '0'), tonumber(lane[3] or '0'), tonumber(lane[4] or '0')
  if lane[1] and lane[1] ~= '' then
    if expires > now then
      redis.call('ZADD', KEYS[1], expires + DUE_SLACK_MS, workspace)
    else
      ring(workspace, lane_key, doorbells)
    end
  elseif redis.call('LLEN', base .. ':pending') == 0 then
    redis.call('ZREM', KEYS[1], workspace)
  elseif lane[5] == '1' then
    redis.call('ZADD', KEYS[1], now + HELD_LOOK_MS, workspace)
  elseif rung > 0 and still_queued(rung) then
    redis.call('ZADD', KEYS[1], now + doorbell_ms, workspace)
  else
    ring(workspace, lane_key, doorbells)
  end
end
return answer
