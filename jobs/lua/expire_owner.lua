#!lua flags=allow-oom
-- End the leases of a worker that is proven dead, in one partition: whoever claims next need not wait.
-- KEYS: due
-- ARGV: partition prefix, owner (what the worker's claim ids begin with)
-- Returns: {number of leases ended}
-- Repeat-safe: an ended lease is not ended again. One that has lapsed already counts, too: it needs no grace then.
-- At most 1000 lanes a call; the rest run out by themselves.
local now = now_ms()
local ended = 0
for _, workspace in ipairs(redis.call('ZRANGE', KEYS[1], 0, 999)) do
  local lane_key = ARGV[1] .. ':' .. workspace .. ':lane'
  local lane = redis.call('HMGET', lane_key, 'running', 'claim', 'recovered')
  local theirs = lane[2] and string.sub(lane[2], 1, #ARGV[2] + 1) == ARGV[2] .. ':'
  if theirs and lane[1] ~= '' and lane[3] ~= '1' then
    redis.call('HSET', lane_key, 'expiresAtMs', string.format('%.0f', now), 'recovered', 1)
    redis.call('ZADD', KEYS[1], now, workspace)
    ended = ended + 1
  end
end
return { ended }
