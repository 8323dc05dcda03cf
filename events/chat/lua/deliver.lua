#!lua flags=allow-oom
-- Note that a turn's answer is going out.
-- KEYS: lease, turn
-- ARGV: fencing token
-- Returns: {'ok'}; {'stale'} the channel is another process's; {'gone'} there is no such turn, or it has ended
-- Repeat-safe.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
local state = redis.call('HGET', KEYS[2], 'state')
if state == 'running' then
  redis.call('HSET', KEYS[2], 'state', 'delivering', 'deliveryStartedAtMs', string.format('%.0f', now_ms()))
elseif state ~= 'delivering' then
  return { 'gone' }
end
return { 'ok' }
