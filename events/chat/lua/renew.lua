#!lua flags=allow-oom
-- Keep the right to serve a channel.
-- KEYS: lease
-- ARGV: fencing token, life ms, then fields and values that tell how it serves the channel
-- Returns: {'ok'}; {'stale'} the channel was given to another process since, which may have left it again
-- Repeat-safe.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now_ms() + tonumber(ARGV[2])), unpack(ARGV, 3))
return { 'ok' }
