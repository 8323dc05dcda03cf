-- Fragment, prepended to each script: the one clock, which is the server's.
-- KEYS: none.  ARGV: none.
-- Returns: nothing; defines now_ms(), epoch ms.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
