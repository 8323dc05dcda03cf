#!lua
-- Let one more request of a caller pass, or say when there is room: a bucket that fills at an even rate.
-- KEYS: rate
-- ARGV: requests that a full bucket holds, ms in which an empty one fills
-- Returns: {'taken' or 'refused', requests left, ms until the bucket is full again, ms until there is room}
-- The key holds the time (ms) at which the bucket is full again, and goes then. Not repeat-safe: a repeat takes twice.
local now, limit, window = now_ms(), tonumber(ARGV[1]), tonumber(ARGV[2])
local share = window / limit
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local taken = full + share <= now + window
if taken then
  full = full + share
  redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
end
local missing = full - now
local left = math.floor((window - missing) / share + 0.001)
local wait = taken and 0 or math.ceil(missing + share - window)
return { taken and 'taken' or 'refused', whole(left), whole(math.ceil(missing)), whole(wait) }
