#!lua flags=allow-oom
-- Give the lane's current holder a greater fence: the memory store has seen one that this Redis never gave.
-- KEYS: lane
-- ARGV: claim id, fence, least new fence
-- Returns: {'ok', fence} or {'lost'}
-- Repeat-safe: after a lost reply the old fence answers 'lost', and the lease runs out.
local lane = redis.call('HMGET', KEYS[1], 'running', 'claim', 'fence')
if not lane[1] or lane[1] == '' or lane[2] ~= ARGV[1] or lane[3] ~= ARGV[2] then
  return { 'lost' }
end
local fence = string.format('%.0f', math.max(tonumber(ARGV[3]), tonumber(lane[3]) + 1, now_ms()))
redis.call('HSET', KEYS[1], 'fence', fence)
return { 'ok', fence }
