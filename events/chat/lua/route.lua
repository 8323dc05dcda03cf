#!lua flags=allow-oom
-- Replace which session serves whom.
-- KEYS: lease, routes
-- ARGV: fencing token, JSON
-- Returns: {'ok'}; {'stale'} the channel is another process's
-- Repeat-safe.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
redis.call('SET', KEYS[2], ARGV[2])
return { 'ok' }
