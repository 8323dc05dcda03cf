-- Write how far the running task is and tell who listens, if claim, fence and task are still the lane's own.
-- KEYS: lane
-- ARGV: base, claim id, fence, task id, progress JSON, channel, client id or '', event JSON
-- Returns: {'ok'} or {'lost'}
-- Repeat-safe: it only sets the progress anew, and tells it once more.
local lane = redis.call('HMGET', KEYS[1], 'running', 'claim', 'fence', 'eventSeq')
if lane[1] ~= ARGV[4] or lane[2] ~= ARGV[2] or lane[3] ~= ARGV[3] then
  return { 'lost' }
end
redis.call('HSET', ARGV[1] .. ':task:' .. ARGV[4], 'progress', ARGV[5])
-- the event is in no log: the number tells readers after which one it belongs
redis.call('PUBLISH', ARGV[6], (lane[4] or '0') .. ' ' .. ARGV[7] .. ' ' .. ARGV[8])
return { 'ok' }
