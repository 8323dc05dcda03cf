-- Fragment of the scripts about sessions: how long what belongs to one lives, and who is in it.
-- KEYS: session, clients, streams, single
-- ARGV: session id, then what the script says
-- Returns: nothing; defines what follows.
local SESSION_LIFE_MS = 1800000 -- after its last use
local CLIENT_LIFE_MS = 86400000 -- of a registration, after its last use

-- the session was used; single: the key that names the workspace's shared session
local function keep(session, clients, streams, single, id)
  redis.call('PEXPIRE', session, SESSION_LIFE_MS)
  redis.call('PEXPIRE', clients, SESSION_LIFE_MS)
  redis.call('PEXPIRE', streams, SESSION_LIFE_MS)
  if redis.call('GET', single) == id then
    redis.call('PEXPIRE', single, SESSION_LIFE_MS)
  end
end

-- whether a client takes part in a session, and its id is this owner's
local function is_in(clients, registration, client, owner)
  return redis.call('ZSCORE', clients, client) and redis.call('GET', registration) == owner
end

-- a client's registration, and its part in a session, were used
local function keep_client(clients, registration, client, owner, now)
  redis.call('SET', registration, owner, 'PX', CLIENT_LIFE_MS)
  redis.call('ZADD', clients, now, client)
  redis.call('ZREMRANGEBYSCORE', clients, '-inf', now - CLIENT_LIFE_MS)
end
