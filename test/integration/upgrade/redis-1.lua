-- The script of the first release. Processes of that release send it. Never change it.
local function number(text) return tonumber(text) or 0 end
local perMinute, perDay = number(ARGV[1]), number(ARGV[2])
local afterRefusals, banLength = tonumber(ARGV[3]), number(ARGV[4])
local now = tonumber(ARGV[5])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refused, bannedUntil = 0, 0, 0, 0, 0, 0
local kept = redis.call('GET', KEYS[1])
if kept then
  local n = string.gmatch(kept, '%S+')
  usedInMinute, minuteEndsAt, usedInDay = number(n()), number(n()), number(n())
  dayEndsAt, refused, bannedUntil = number(n()), number(n()), number(n())
end

local function roll(endsAt, length)
  if now >= endsAt then return true, (math.floor(now / length) + 1) * length end
  return false, math.min(endsAt, now + length)
end
local ended
ended, minuteEndsAt = roll(minuteEndsAt, 60000)
if ended then usedInMinute, refused = 0, 0 end
ended, dayEndsAt = roll(dayEndsAt, 86400000)
if ended then usedInDay = 0 end

local banned = false
if afterRefusals then
  if now >= bannedUntil then bannedUntil = 0 else bannedUntil = math.min(bannedUntil, now + banLength) end
  banned = bannedUntil ~= 0
end

local granted = not banned and usedInMinute < perMinute and usedInDay < perDay
if granted then
  usedInMinute, usedInDay = usedInMinute + 1, usedInDay + 1
elseif afterRefusals and not banned then
  refused = refused + 1
  if refused >= afterRefusals then refused, bannedUntil = 0, now + banLength end
end

local state = string.format('%.17g %.17g %.17g %.17g %.17g %.17g',
  usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refused, bannedUntil)
local expiry = math.max(minuteEndsAt, dayEndsAt, bannedUntil) - now + 172800000
redis.call('SET', KEYS[1], state, 'PX', string.format('%.0f', math.min(expiry, 1e15)))
return string.format('%d %.17g ', granted and 1 or 0, now) .. state
