#!lua flags=allow-oom
-- Stop a lane from starting tasks, or let it go on; what runs goes on.
-- KEYS: lane, pending, due, wait
-- ARGV: workspace, '1' to hold or '0' to let go, doorbell ms
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when none is needed)
-- Repeat-safe: it only sets the flag anew.
local keys = { lane = KEYS[1], pending = KEYS[2], due = KEYS[3], wait = KEYS[4] }
redis.call('HSET', keys.lane, 'hold', ARGV[2])
local running = redis.call('HGET', keys.lane, 'running')
if running and running ~= '' then
  return { 'ok', '0' }
end
return { 'ok', settle(keys, ARGV[1], tonumber(ARGV[3]), now_ms()) }
