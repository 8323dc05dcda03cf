#!lua flags=allow-oom
-- Find the lanes of one partition that need a doorbell: expired leases and doorbells that led to nothing.
-- KEYS: due
-- ARGV: partition prefix, doorbell ms
-- Returns: flat list of workspace, doorbell ms, for at most 100 lanes
-- Repeat-safe: each lane's due time has moved, so concurrent sweepers never ring for the same lane twice.
local prefix, doorbell_ms = ARGV[1], tonumber(ARGV[2])
local MAX_BACKOFF_MS = 30000
local now = now_ms()
local rings = {}

local function ring(workspace, lane_key, doorbells)
  local stamp = string.format('%.0f', now)
  redis.call('HSET', lane_key, 'doorbellAtMs', stamp, 'doorbells', doorbells + 1)
  redis.call('ZADD', KEYS[1], now + math.min(MAX_BACKOFF_MS, doorbell_ms * 2 ^ math.min(doorbells, 10)), workspace)
  rings[#rings + 1] = workspace
  rings[#rings + 1] = stamp
end

for _, workspace in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 100)) do
  local base = prefix .. ':' .. workspace
  local lane_key = base .. ':lane'
  local lane = redis.call('HMGET', lane_key, 'running', 'expiresAtMs', 'doorbells')
  local expires, doorbells = tonumber(lane[2] or '0'), tonumber(lane[3] or '0')
  if lane[1] and lane[1] ~= '' and expires > now then
    redis.call('ZADD', KEYS[1], expires + 200, workspace)
  elseif (lane[1] and lane[1] ~= '') or redis.call('LLEN', base .. ':pending') > 0 then
    ring(workspace, lane_key, doorbells)
  else
    redis.call('ZREM', KEYS[1], workspace)
  end
end
return rings
