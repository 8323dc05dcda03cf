#!lua flags=allow-oom
-- Take one of a session's places for streams, or keep it. A place that is not kept in time is anybody's.
-- KEYS: session, clients, streams, single
-- ARGV: session id, stream id, ms that the place is kept, places of a session
-- Returns: {'ok'}; {'gone'} there is no such session; {'full'} all places are taken
-- Repeat-safe: who has a place keeps it.
local session, clients, streams, single = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, stream, kept_ms, places = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('EXISTS', session) == 0 then
  return { 'gone' }
end
local now = now_ms()
redis.call('ZREMRANGEBYSCORE', streams, '-inf', now)
if not redis.call('ZSCORE', streams, stream) and redis.call('ZCARD', streams) >= places then
  return { 'full' }
end
redis.call('ZADD', streams, now + kept_ms, stream)
keep(session, clients, streams, single, id)
return { 'ok' }
