#!lua flags=allow-oom
-- Tell in a workspace's log what happened to a turn of a channel.
-- KEYS: lane, events
-- ARGV: channel of the log's bell, epoch for a new log, event type, data
-- Returns: {'ok'}
-- A repeat tells it again.
local known = redis.call('HMGET', KEYS[1], 'eventSeq', 'eventEpoch', 'eventReplid')
local log = { lane = KEYS[1], stream = KEYS[2], channel = ARGV[1], epoch = ARGV[2], now = now_ms(), last = known[1],
  known_epoch = known[2], known_replid = known[3] }
append_event(log, ARGV[3], ARGV[4], '')
redis.call('HSET', KEYS[1], 'eventSeq', ring_log(log))
return { 'ok' }
