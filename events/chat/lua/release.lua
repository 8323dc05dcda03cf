#!lua flags=allow-oom
-- Give up the right to serve a channel.
-- KEYS: lease
-- ARGV: fencing token, then fields and values that tell how it left the channel
-- Returns: {'ok'}; {'stale'} it was another's already
-- Repeat-safe. The token stays, so that the next one is greater.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
redis.call('HSET', KEYS[1], 'owner', '', 'until', '0', unpack(ARGV, 2))
return { 'ok' }
