#!lua flags=allow-oom
-- Say that a session is in use, and who uses it.
-- KEYS: session, clients, streams, single, registration
-- ARGV: session id, client id or '', owner
-- Returns: {'ok', ms of now}; {'gone'} there is no such session; {'stranger'} the client takes no part in it
-- Repeat-safe: it only sets times anew.
local session, clients, streams, single, registration = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, client, owner = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', session) == 0 then
  return { 'gone' }
end
if client ~= '' and not is_in(clients, registration, client, owner) then
  return { 'stranger' }
end
local now = now_ms()
if client ~= '' then
  keep_client(clients, registration, client, owner, now)
end
keep(session, clients, streams, single, id)
return { 'ok', string.format('%.0f', now) }
