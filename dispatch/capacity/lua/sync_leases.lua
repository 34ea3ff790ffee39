-- Purpose:   make the leases of one stage equal to its active dispatches.
-- Guarantee: afterwards exactly the named pairs hold a lease, each until now + ttl. A fenced tick changes nothing.
-- KEYS:      fence, active, owners
-- ARGV:      now ("" = Redis TIME), fence, valid_until, ttl, then asset, dispatch_id for each active dispatch
-- Returns:   {leases added, leases dropped}
local now = clock(ARGV[1])
local refusal = refuse_fenced(KEYS[1], ARGV[2], ARGV[3], now)
if refusal then return refusal end

local wanted, added, dropped = {}, 0, 0
for i = 5, #ARGV, 2 do wanted[ARGV[i]] = ARGV[i + 1] end

local owners = redis.call("HGETALL", KEYS[3])
for i = 1, #owners, 2 do
  if wanted[owners[i]] ~= owners[i + 1] then
    redis.call("HDEL", KEYS[3], owners[i])
  end
end
for _, asset in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do
  if redis.call("HEXISTS", KEYS[3], asset) == 0 then
    redis.call("ZREM", KEYS[2], asset)
    dropped = dropped + 1
  end
end
for asset, dispatch in pairs(wanted) do
  redis.call("HSET", KEYS[3], asset, dispatch)
  added = added + redis.call("ZADD", KEYS[2], now + tonumber(ARGV[4]), asset)
end
return {added, dropped}
