-- Note a turn before the agent is asked.
-- KEYS: lease, turns, turn
-- ARGV: fencing token, turn id, body
-- Returns: {'ok'}; {'stale'} the channel is another process's
-- Repeat-safe: a turn that is known stays as it is.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
if redis.call('EXISTS', KEYS[3]) == 0 then
  local now = string.format('%.0f', now_ms())
  redis.call('HSET', KEYS[3], 'body', ARGV[3], 'state', 'running', 'beganAtMs', now)
  redis.call('ZADD', KEYS[2], now, ARGV[2])
end
return { 'ok' }
