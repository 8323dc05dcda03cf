-- Fragment, prepended to each script that appends events: the only writer of the event log.
-- KEYS: none of its own; the caller passes its declared stream key.
-- ARGV: none.
-- Returns: nothing; defines EVENT_FIELDS (of the lane hash, where the log's state is kept), which the caller reads, and
--   append_event(log, type, data, client), which notes an event,
--   write_events(log, known, now), which appends all that were noted and returns the changes of EVENT_FIELDS, or nil if
--   there was none; the caller writes them within the same script.
--   log: {stream = stream key, channel = pub/sub channel, epoch = epoch for a new log, events = {}}
--   data: finished JSON text.  client: client id or ''.  known: EVENT_FIELDS by name.  now: Redis time in ms.
local EVENT_FIELDS = { 'eventSeq', 'eventEpoch', 'eventReplid' }
local EVENTS_KEPT = 1000
local EVENTS_LIFE_MS = 86400000
local FAILOVER_GAP = 1000

local function append_event(log, event_type, data, client)
  log.events[#log.events + 1] = { event_type, data, client }
end

-- A replica that took over may lack the newest events, and would give their numbers out again: a new epoch, and
-- numbers beyond any that the lost primary can have used. A restart on the same data keeps its epoch: it has a new
-- replication id too, but none before it, while a promoted server has. Any other id than ours counts, not only the
-- one before: a quiet lane may have slept through two failovers.
-- Returns the server's id when it is another than the one known, and whether numbers may be given out twice.
local function server_change(known_replid)
  local ok, info = pcall(redis.call, 'INFO', 'replication')
  local _, before = string.find(ok and info or '', 'master_replid:', 1, true)
  local current = before and string.sub(info, before + 1, before + 40)
  if not current or current == known_replid then
    return nil, false
  end
  return current, known_replid and string.find(info, 'master_replid2:0*[1-9a-f]') ~= nil
end

local function write_events(log, known, now)
  if #log.events == 0 then
    return nil
  end
  local replid, is_behind = server_change(known.eventReplid)
  local last = tonumber(known.eventSeq or '0') + (is_behind and FAILOVER_GAP or 0)
  local at = string.format('%.0f', now)
  for _, event in ipairs(log.events) do
    last = last + 1
    local id = string.format('%.0f-0', last)
    if event[3] == '' then
      redis.call('XADD', log.stream, 'MAXLEN', '~', EVENTS_KEPT, id, 'type', event[1], 'at', at, 'data', event[2])
    else
      redis.call('XADD', log.stream, 'MAXLEN', '~', EVENTS_KEPT, id, 'type', event[1], 'at', at, 'data', event[2],
        'client', event[3])
    end
  end
  log.events = {}
  local newest = string.format('%.0f', last)
  redis.call('PEXPIRE', log.stream, EVENTS_LIFE_MS)
  redis.call('PUBLISH', log.channel, newest) -- once: readers then read all that is new
  return { eventSeq = newest, eventReplid = replid,
    eventEpoch = (is_behind or not known.eventEpoch) and log.epoch or nil }
end
