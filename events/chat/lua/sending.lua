#!lua flags=allow-oom
-- Note that a message is being handed over.
-- KEYS: lease, part
-- ARGV: fencing token
-- Returns: {'ok', state before}, 'sent' for one that is not known; {'stale'} the channel is another process's
-- A repeat answers 'sending', so that the message says that it may be one.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
local state = redis.call('HGET', KEYS[2], 'state') or 'sent'
if state == 'waiting' then
  redis.call('HSET', KEYS[2], 'state', 'sending')
end
return { 'ok', state }
