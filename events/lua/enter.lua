-- Take part in a session: the workspace's shared one, or a new one. A client id that is this owner's is kept.
-- KEYS: single, lane
-- ARGV: base of the workspace's keys, of which are those of the session and of the client's registration; fresh session
--       id, '1' to share a session or '0', client id or '', fresh client id, owner
-- Returns: {session id, '1' if it was there before, client id, ms at which the session was made}
-- Repeat-safe: with the same fresh ids it makes nothing anew.
local single, lane = KEYS[1], KEYS[2]
local base, fresh, is_shared, asked, owner = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[6]
local now = now_ms()

local function session_key(id)
  return base .. ':session:' .. id
end

local function registration_key(client)
  return base .. ':client:' .. client
end

local id = is_shared and redis.call('GET', single)
if not id or redis.call('EXISTS', session_key(id)) == 0 then
  id = fresh
end
local client = ARGV[5]
if asked ~= '' and redis.call('GET', registration_key(asked)) == owner then
  client = asked
end
local key = session_key(id)
redis.call('HSETNX', key, 'createdAtMs', string.format('%.0f', now))
redis.call('HSETNX', key, 'beganAfter', redis.call('HGET', lane, 'eventSeq') or '0')
if is_shared then
  redis.call('SET', single, id)
end
keep_client(key .. ':clients', registration_key(client), client, owner, now)
keep(key, key .. ':clients', key .. ':streams', single, id)
return { id, id == fresh and '0' or '1', client, redis.call('HGET', key, 'createdAtMs') }
