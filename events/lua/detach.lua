#!lua flags=allow-oom
-- End a client's part in a session; its registration stays.
-- KEYS: session, clients, streams, single, registration
-- ARGV: session id, client id, owner
-- Returns: {'ok'}; {'stranger'} it took no part in it
-- Repeat-safe: a repeat answers 'stranger'.
local clients, registration = KEYS[2], KEYS[5]
local client, owner = ARGV[2], ARGV[3]
if not is_in(clients, registration, client, owner) then
  return { 'stranger' }
end
redis.call('ZREM', clients, client)
return { 'ok' }
