#!lua flags=allow-oom
-- End a session and tell it in the workspace's log, by which its streams end everywhere.
-- KEYS: session, clients, streams, single, registration, lane, events
-- ARGV: session id, client id or '', owner, channel, epoch
-- Returns: {'ok'}; {'gone'} there is no such session; {'stranger'} the client takes no part in it
-- Repeat-safe: a repeat answers 'gone'.
local session, clients, streams, single, registration, lane = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, client, owner = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', session) == 0 then
  return { 'gone' }
end
if client ~= '' and not is_in(clients, registration, client, owner) then
  return { 'stranger' }
end
local known = redis.call('HMGET', lane, 'eventSeq', 'eventEpoch', 'eventReplid')
local log = { lane = lane, stream = KEYS[7], channel = ARGV[4], epoch = ARGV[5], now = now_ms(), last = known[1],
  known_epoch = known[2], known_replid = known[3] }
-- ids are of our making or were checked: nothing needs escaping
local closed_by = client == '' and '' or string.format(',"closedBy":"%s"', client)
append_event(log, 'session_closed', string.format('{"sessionId":"%s","reason":"client_close"%s}', id, closed_by), client)
redis.call('HSET', lane, 'eventSeq', ring_log(log))
redis.call('DEL', session, clients, streams)
if redis.call('GET', single) == id then
  redis.call('DEL', single)
end
return { 'ok' }
