-- Fragment of the scripts of channels: who may write.
-- KEYS: lease
-- ARGV: fencing token, then what the script says
-- Returns: nothing; defines holds(lease, token), which is whether no other process was given the channel since. A lease
--   that has run out still holds until somebody else takes it: nobody else can have written meanwhile.
local function holds(lease, token)
  return redis.call('HGET', lease, 'token') == token
end
