#!lua flags=allow-oom
-- Extend a lease that is still ours, even one that lapsed while nobody took it.
-- KEYS: lane, due
-- ARGV: workspace, claim id, fence, lease ms
-- Returns: {'ok'} or {'lost'}
-- Repeat-safe: it only sets the end anew.
local lane = redis.call('HMGET', KEYS[1], 'running', 'claim', 'fence')
if not lane[1] or lane[1] == '' or lane[2] ~= ARGV[2] or lane[3] ~= ARGV[3] then
  return { 'lost' }
end
local expires = now_ms() + tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'expiresAtMs', string.format('%.0f', expires))
redis.call('ZADD', KEYS[2], expires + 200, ARGV[1])
return { 'ok' }
