#!lua
-- Store a message, unless it is known.
-- KEYS: inbox, seen
-- ARGV: body, most that may wait, ms that a message is known for, then digests of its keys
-- Returns: {'stored', receipt}; {'known'}; {'full'} too many wait
-- Repeat-safe: a repeat is known. Refused whole when Redis is out of memory: without its first line it would not be, once
--   something that is too old was removed.
local inbox, seen = KEYS[1], KEYS[2]
local now, known_ms = now_ms(), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', seen, '-inf', now - known_ms)
for n = 4, #ARGV do
  if redis.call('ZSCORE', seen, ARGV[n]) then
    return { 'known' }
  end
end
if redis.call('XLEN', inbox) >= tonumber(ARGV[2]) then
  return { 'full' }
end
for n = 4, #ARGV do
  redis.call('ZADD', seen, now, ARGV[n])
end
redis.call('PEXPIRE', seen, known_ms)
return { 'stored', redis.call('XADD', inbox, '*', 'body', ARGV[1]) }
