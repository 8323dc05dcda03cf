#!lua flags=allow-oom
-- Take the right to serve a channel.
-- KEYS: lease
-- ARGV: owner, life ms, then fields and values that tell how it serves the channel
-- Returns: {'held', fencing token}; {'taken', ms until it is free} another owner has it
-- Repeat-safe: an owner that has it keeps its token. One that was given anew is not below the time in ms, so that it is
--   greater than all before also on a server that has lost them.
local owner, life = ARGV[1], tonumber(ARGV[2])
local lease = redis.call('HMGET', KEYS[1], 'owner', 'token', 'until')
local now, ends = now_ms(), tonumber(lease[3] or '0')
if lease[1] ~= owner then
  if lease[1] and ends > now then
    return { 'taken', string.format('%.0f', ends - now) }
  end
  lease[2] = string.format('%.0f', math.max(tonumber(lease[2] or '0') + 1, now))
end
redis.call('HSET', KEYS[1], 'owner', owner, 'token', lease[2], 'until', string.format('%.0f', now + life),
  unpack(ARGV, 3))
return { 'held', lease[2] }
