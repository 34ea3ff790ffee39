-- Purpose:   grant leases of one stage to candidates, in order, while the quota lasts.
-- Guarantee: all or nothing per candidate; never more leases than the quota, nor more than quota - active rows new
--            ones. A fenced tick changes nothing.
-- KEYS:      fence, active, owners
-- ARGV:      now ("" = Redis TIME), fence, valid_until, ttl, quota, active rows counted by this tick,
--            then asset, dispatch_id for each candidate
-- Returns:   one word per candidate: granted, duplicate, backpressure
local now = clock(ARGV[1])
local refusal = refuse_fenced(KEYS[1], ARGV[2], ARGV[3], now)
if refusal then return refusal end

for _, asset in ipairs(redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", now)) do
  redis.call("ZREM", KEYS[2], asset)
  redis.call("HDEL", KEYS[3], asset)
end

local ttl, quota = tonumber(ARGV[4]), tonumber(ARGV[5])
local in_use = math.max(redis.call("ZCARD", KEYS[2]), tonumber(ARGV[6]))
local verdicts = {}
for i = 7, #ARGV, 2 do
  local asset, dispatch = ARGV[i], ARGV[i + 1]
  if redis.call("HEXISTS", KEYS[3], asset) == 1 then
    verdicts[#verdicts + 1] = "duplicate"
  elseif in_use >= quota then
    verdicts[#verdicts + 1] = "backpressure"
  else
    redis.call("ZADD", KEYS[2], now + ttl, asset)
    redis.call("HSET", KEYS[3], asset, dispatch)
    in_use = in_use + 1
    verdicts[#verdicts + 1] = "granted"
  end
end
return verdicts
