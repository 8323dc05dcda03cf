#!lua flags=allow-oom
-- Stop a lane from starting tasks, or let it go on; what runs goes on.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, '1' to hold or '0' to let go, doorbell ms
-- Returns: {'ok', doorbell} (doorbell: ms to pass on, '0' when none is needed)
-- Repeat-safe: it only sets the flag anew.
local lane, log = read_lane()
lane.hold = ARGV[5]
local doorbell = '0'
if not is_running(lane) then
  doorbell = settle(lane, tonumber(ARGV[6]))
end
save(lane, log)
return { 'ok', doorbell }
