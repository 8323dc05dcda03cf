#!lua flags=allow-oom
-- Extend a lease that is still ours, even one that lapsed while nobody took it.
-- KEYS: lane, due
-- ARGV: base, workspace, claim id, fence, lease ms
-- Returns: {'ok', '1' if the task is to be cancelled else '0'} or {'lost'}
-- Repeat-safe: it only sets the end anew.
local lane = redis.call('HMGET', KEYS[1], 'running', 'claim', 'fence')
if not lane[1] or lane[1] == '' or lane[2] ~= ARGV[3] or lane[3] ~= ARGV[4] then
  return { 'lost' }
end
local expires = now_ms() + tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'expiresAtMs', string.format('%.0f', expires), 'recovered', '')
redis.call('ZADD', KEYS[2], expires + DUE_SLACK_MS, ARGV[2])
return { 'ok', redis.call('HGET', ARGV[1] .. ':task:' .. lane[1], 'cancelRequested') or '0' }
