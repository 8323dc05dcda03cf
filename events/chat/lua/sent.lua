#!lua flags=allow-oom
-- Note that a message was taken, or is given up; its text is forgotten, its key is known for a while.
-- KEYS: lease, outbox, part
-- ARGV: fencing token, key, the chat service's id or '', ms that it is known for
-- Returns: {'ok'}; {'stale'} the channel is another process's
-- Repeat-safe.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
redis.call('HSET', KEYS[3], 'state', 'sent', 'providerId', ARGV[3])
redis.call('HDEL', KEYS[3], 'body', 'attempt')
redis.call('PEXPIRE', KEYS[3], ARGV[4])
redis.call('ZREM', KEYS[2], ARGV[2])
return { 'ok' }
