#!lua flags=allow-oom
-- Note that a message is being handed over.
-- KEYS: lease, part
-- ARGV: fencing token, name of this attempt to hand it over
-- Returns: {'ok', state before}, 'sent' for one that is not known; {'stale'} the channel is another process's
-- Repeat-safe: the same attempt has the same answer.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
local state, attempt = unpack(redis.call('HMGET', KEYS[2], 'state', 'attempt'))
if state == 'sending' and attempt == ARGV[2] then
  state = 'waiting'
elseif state == 'waiting' then
  redis.call('HSET', KEYS[2], 'state', 'sending', 'attempt', ARGV[2])
end
return { 'ok', state or 'sent' }
