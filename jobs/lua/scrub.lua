#!lua flags=allow-oom
-- Take the requests and results of ended tasks away, because what they quote has been forgotten.
-- KEYS: task, input; the same of each further task
-- ARGV: result JSON that takes the place of those that go
-- Returns: {}
-- Repeat-safe: a repeat finds the same records and writes the same; one that is gone is not made again.
for i = 1, #KEYS, 2 do
  local record = redis.call('HMGET', KEYS[i], 'outcome', 'result')
  if record[1] then
    redis.call('DEL', KEYS[i + 1])
    if record[2] then
      redis.call('HSET', KEYS[i], 'result', ARGV[1])
    end
  end
end
return {}
