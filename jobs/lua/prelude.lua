-- Fragment, prepended to each lane script after the event fragment: numbers, times as text, elements of the line.
-- KEYS: none of its own.  ARGV: none.
-- Returns: nothing; defines what follows.

local DUE_SLACK_MS = 200 -- a lease is looked at so long after its end
local HELD_LOOK_MS = 30000 -- how often a held lane is looked at

-- a whole number as text: what Lua makes of a great one by itself has an exponent
local function whole(number)
  return string.format('%.0f', number)
end

-- epoch ms -> 2026-11-30T13:52:40.123Z; years are counted from March, so that a leap day is a year's last
local function rfc3339(ms)
  local floor = math.floor
  local days = floor(ms / 86400000)
  local rest = ms - days * 86400000
  local day = days + 719468 -- since 0000-03-01
  local era = floor(day / 146097)
  day = day - era * 146097
  local year = floor((day - floor(day / 1460) + floor(day / 36524) - floor(day / 146096)) / 365)
  day = day - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * day + 2) / 153) -- 0 is March
  day = day - floor((153 * month + 2) / 5) + 1
  year = year + era * 400 + (month > 9 and 1 or 0)
  month = month + (month > 9 and -9 or 3)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, floor(rest / 3600000),
    floor(rest / 60000) % 60, floor(rest / 1000) % 60, rest % 1000)
end

-- a task's next updatedAt: it never goes backwards, even if the server's clock does
local function stamp_after(before, now)
  local stamp = rfc3339(now)
  return before and before > stamp and before or stamp
end

-- element of the pending list; <kind>:<accepted ms>:<task id>
local function element(kind, accepted, task)
  return string.format('%s:%s:%s', kind, accepted, task)
end

local function element_parts(text)
  return string.match(text, '^(%l+):(%d+):(.+)$')
end
