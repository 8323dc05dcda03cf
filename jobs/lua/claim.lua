#!lua flags=allow-oom
-- Take the lane's lease if it is free, and with it the head task, or the task that a dead holder left.
-- KEYS: lane, pending, index, done, due, wait, stats, events
-- ARGV: base, workspace, channel, epoch, claim id, store id, lease ms, max attempts, doorbell ms
-- Returns: {'run' | 'resolve', fence, input JSON, flat record} (resolve: the task has used up its attempts; find out how it
--          ended, don't run it)
--          {'busy'} another lease lives; {'idle'} nothing to do; {'held'} by an operator
--          {'foreign'} another memory store is registered
-- Repeat-safe: the same claim id gets the same grant again.
local lane, log = read_lane()
local answer = claim_lane(lane, log, { claim = ARGV[5], store = ARGV[6], lease_ms = tonumber(ARGV[7]),
  max_attempts = tonumber(ARGV[8]), doorbell_ms = tonumber(ARGV[9]) })
if lane.is_leased or answer[1] == 'idle' then
  save(lane, log)
else
  save_places(lane)
end
return answer
