#!lua flags=allow-oom
-- Note a turn's terminal event, once, and be done with its messages.
-- KEYS: lease, turns, turn, inbox
-- ARGV: fencing token, turn id, terminal event, reason or '', ms that the turn is kept, receipts
-- Returns: {'ended'}; {'before', terminal event} it had ended; {'gone'} there is no such turn;
--   {'stale'} the channel is another process's
-- Repeat-safe: a repeat answers 'before'.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
for n = 6, #ARGV do -- also of a turn that the server has lost: whoever ends it has seen to them
  redis.call('XDEL', KEYS[4], ARGV[n])
end
local turn = redis.call('HMGET', KEYS[3], 'state', 'terminalEvent')
if not turn[1] then
  return { 'gone' }
end
if turn[2] then
  return { 'before', turn[2] }
end
redis.call('HSET', KEYS[3], 'state', 'ended', 'terminalEvent', ARGV[3], 'terminalReason', ARGV[4],
  'endedAtMs', string.format('%.0f', now_ms()))
redis.call('PEXPIRE', KEYS[3], ARGV[5])
redis.call('ZREM', KEYS[2], ARGV[2])
return { 'ended' }
