-- Fragment, prepended to each script that appends events: the only writer of the event log.
-- KEYS: none of its own; the caller passes its declared lane hash and stream keys.
-- ARGV: none.
-- Returns: nothing; defines append_event(log, type, data, client, now).
--   log: {lane = lane hash key, stream = stream key, channel = pub/sub channel, epoch = epoch for a new log}
--   data: finished JSON text.  client: client id or ''.  now: Redis time in ms.
local EVENTS_KEPT = 1000
local EVENTS_LIFE_MS = 86400000

local function append_event(log, event_type, data, client, now)
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
