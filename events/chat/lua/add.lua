-- Store a message on its way out.
-- KEYS: lease, outbox, part
-- ARGV: fencing token, key, body, turn id or ''
-- Returns: {'ok'}; {'stale'} the channel is another process's
-- Repeat-safe: a message that is known stays as it is.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('HSET', KEYS[3], 'body', ARGV[3], 'turn', ARGV[4], 'state', 'waiting')
  redis.call('ZADD', KEYS[2], redis.call('HINCRBY', KEYS[1], 'sent', 1), ARGV[2])
end
return { 'ok' }
