import { BUCKET_SIZE, KEPT_FOR } from '../shared/counters.ts'

/**
 * Counts or refuses one request, with the same steps as `countRequest`, in Lua.
 *
 * Its arguments:
 * 1. and 2. the limits per minute and per day;
 * 3. and 4. the ban rule: refusals and milliseconds, both empty for no bans;
 * 5. the time; empty for Redis's time;
 * 6. the subject of an anonymous client; empty for a client with a key;
 * 7. what to do: `spend`, `peek` or `reset`.
 *
 * A state is stored as a text of six numbers. Anonymous clients share Redis hashes of bounded size.
 * If a hash is full, the client with the fewest requests is removed, so a client over its limit is
 * removed last. A hash expires a minute after the day has ended. The state of a client with a key
 * expires two days after its windows: limits must still apply if the clock is set back. `%.17g`
 * keeps numbers exact; in a reply, Redis would cut off the decimals of a number.
 */
export const script = `local function number(text) return tonumber(text) or 0 end
local perMinute, perDay = number(ARGV[1]), number(ARGV[2])
local afterRefusals, banLength = tonumber(ARGV[3]), number(ARGV[4])
local now = tonumber(ARGV[5])
if not now then
  local time = redis.pcall('TIME')
  if time.err then return redis.error_reply('ERR TIME: ' .. time.err) end
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refused, bannedUntil = 0, 0, 0, 0, 0, 0
local anonymous = ARGV[6] ~= '' and ARGV[6]
if ARGV[7] == 'reset' then
  if anonymous then redis.call('HDEL', KEYS[1], anonymous) else redis.call('DEL', KEYS[1]) end
  return ''
end

local kept
if anonymous then kept = redis.call('HGET', KEYS[1], anonymous) else kept = redis.call('GET', KEYS[1]) end
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
local function reply(state) return string.format('%d %.17g ', granted and 1 or 0, now) .. state end
local function text()
  return string.format('%.17g %.17g %.17g %.17g %.17g %.17g',
    usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refused, bannedUntil)
end
if ARGV[7] == 'peek' then return reply(text()) end

if granted then
  usedInMinute, usedInDay = usedInMinute + 1, usedInDay + 1
elseif afterRefusals and not banned then
  refused = refused + 1
  if refused >= afterRefusals then refused, bannedUntil = 0, now + banLength end
end

local state = text()
local expiry = math.max(minuteEndsAt, dayEndsAt, bannedUntil) - now + ${KEPT_FOR}
if anonymous then
  if not kept and redis.call('HLEN', KEYS[1]) >= ${BUCKET_SIZE} then
    local all = redis.call('HGETALL', KEYS[1])
    local victim, fewest
    for i = 1, #all, 2 do
      local n = string.gmatch(all[i + 1], '%S+')
      n() n()
      local used, ends = number(n()), number(n())
      if now >= ends then used = -1 end
      if not fewest or used < fewest then victim, fewest = all[i], used end
    end
    redis.call('HDEL', KEYS[1], victim)
  end
  redis.call('HSET', KEYS[1], anonymous, state)
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', dayEndsAt - now + 60000))
else
  redis.call('SET', KEYS[1], state, 'PX', string.format('%.0f', math.min(expiry, 1e15)))
end
return reply(state)`
