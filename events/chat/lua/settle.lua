#!lua flags=allow-oom
-- Be done with messages that became no turn: they are deleted.
-- KEYS: lease, inbox
-- ARGV: fencing token, receipts
-- Returns: {'ok'}; {'stale'} the channel is another process's
-- Repeat-safe.
if not holds(KEYS[1], ARGV[1]) then
  return { 'stale' }
end
for n = 2, #ARGV do
  redis.call('XDEL', KEYS[2], ARGV[n])
end
return { 'ok' }
