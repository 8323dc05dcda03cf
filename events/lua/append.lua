-- Fragment, prepended to each script that appends events: the only writer of the event log.
-- KEYS: none of its own; the caller passes its declared lane hash and stream keys.
-- ARGV: none.
-- Returns: nothing; defines append_event(log, type, data, client, now).
--   log: {lane = lane hash key, stream = stream key, channel = pub/sub channel, epoch = epoch for a new log}
--   data: finished JSON text.  client: client id or ''.  now: Redis time in ms.
local EVENTS_KEPT = 1000
local EVENTS_LIFE_MS = 86400000
local FAILOVER_GAP = 1000

-- A replica that took over may lack the newest events, and would give their numbers out again: a new epoch, and
-- numbers beyond any that the lost primary can have used. A restart on the same data keeps its epoch: it has a new
-- replication id too, but none before it, while a promoted server has. Any other id than ours counts, not only the
-- one before: a quiet lane may have slept through two failovers.
local function follow_failover(log)
  local ok, info = pcall(redis.call, 'INFO', 'replication')
  local current = ok and type(info) == 'string' and string.match(info, 'master_replid:(%x+)')
  if not current then
    return
  end
  local known = redis.call('HGET', log.lane, 'eventReplid')
  if known == current then
    return
  end
  local promoted = string.find(info, 'master_replid2:0*[1-9a-f]')
  if known and promoted then
    redis.call('HSET', log.lane, 'eventEpoch', log.epoch)
    redis.call('HINCRBY', log.lane, 'eventSeq', FAILOVER_GAP)
  end
  redis.call('HSET', log.lane, 'eventReplid', current)
end

local function append_event(log, event_type, data, client, now)
  follow_failover(log)
  redis.call('HSETNX', log.lane, 'eventEpoch', log.epoch)
  local id = redis.call('HINCRBY', log.lane, 'eventSeq', 1)
  local fields = { 'type', event_type, 'at', string.format('%.0f', now), 'data', data }
  if client ~= '' then
    fields[#fields + 1] = 'client'
    fields[#fields + 1] = client
  end
  redis.call('XADD', log.stream, 'MAXLEN', '~', EVENTS_KEPT, string.format('%.0f-0', id), unpack(fields))
  redis.call('PEXPIRE', log.stream, EVENTS_LIFE_MS)
  redis.call('PUBLISH', log.channel, string.format('%.0f', id))
end
