-- Fragment, prepended to each script that appends events: the only writer of the event log.
-- KEYS: none of its own; the caller passes its declared lane hash and stream keys.
-- ARGV: none.
-- Returns: nothing; defines append_event(log, type, data, client), and ring_log(log), to be called once afterwards, which
--   returns the new eventSeq as text, or nil if nothing was appended; the caller writes it to the lane within its script.
--   log: {lane = lane hash key, stream = stream key, channel = pub/sub channel, epoch = epoch for a new log, now = Redis
--   time in ms, last = eventSeq, known_epoch = eventEpoch, known_replid = eventReplid of the lane hash, false if absent}
--   data: finished JSON text.  client: client id or ''.
local EVENTS_KEPT = 1000
local EVENTS_LIFE_MS = 86400000
local FAILOVER_GAP = 1000

-- A replica that took over may lack the newest events, and would give their numbers out again: a new epoch, and
-- numbers beyond any that the lost primary can have used. A restart on the same data keeps its epoch: it has a new
-- replication id too, but none before it, while a promoted server has. Any other id than ours counts, not only the
-- one before: a quiet lane may have slept through two failovers.
local function follow_failover(log)
  local ok, info = pcall(redis.call, 'INFO', 'replication')
  local _, before = string.find(ok and info or '', 'master_replid:', 1, true)
  local current = before and string.sub(info, before + 1, before + 40)
  if not current or log.known_replid == current then
    return
  end
  if log.known_replid and string.find(info, 'master_replid2:0*[1-9a-f]') then
    redis.call('HSET', log.lane, 'eventEpoch', log.epoch)
    log.last = log.last + FAILOVER_GAP
  end
  redis.call('HSET', log.lane, 'eventReplid', current)
end

local function append_event(log, event_type, data, client)
  if not log.at then -- the first one
    log.at, log.last = string.format('%.0f', log.now), tonumber(log.last or '0')
    follow_failover(log)
    if not log.known_epoch then
      redis.call('HSETNX', log.lane, 'eventEpoch', log.epoch)
    end
  end
  log.last = log.last + 1
  local id = string.format('%.0f-0', log.last)
  if client == '' then
    redis.call('XADD', log.stream, 'MAXLEN', '~', EVENTS_KEPT, id, 'type', event_type, 'at', log.at, 'data', data)
  else
    redis.call('XADD', log.stream, 'MAXLEN', '~', EVENTS_KEPT, id, 'type', event_type, 'at', log.at, 'data', data,
      'client', client)
  end
end

local function ring_log(log)
  if not log.at then
    return nil
  end
  local newest = string.format('%.0f', log.last)
  redis.call('PEXPIRE', log.stream, EVENTS_LIFE_MS)
  redis.call('PUBLISH', log.channel, newest) -- once: readers then read all that is new
  return newest
end
