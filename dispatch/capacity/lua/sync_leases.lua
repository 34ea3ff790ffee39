-- Purpose:   make the leases of one stage equal to its active dispatches, obey an operator's reset of its circuit, and
--            tell what circuit and budgets stand at.
-- Guarantee: afterwards exactly the named pairs hold a lease, each until now + ttl, with the test permit it had. A
--            fenced tick changes nothing.
-- ARGV:      now ("" = Redis TIME), fence, valid_until, limits (JSON), ttl, how often operators reset the circuit,
--            then asset, dispatch_id for each active dispatch
-- Returns:   {leases added, dispatch_ids that held one and do no more, standing (JSON)}
local now = clock(ARGV[1])
local refusal = refuse_fenced(ARGV[2], ARGV[3], now)
if refusal then return refusal end
local limits = cjson.decode(ARGV[4])

local resets = redis.call("HGET", CIRCUIT, "resets")
if resets ~= ARGV[6] then
  close_circuit()
  redis.call("HSET", CIRCUIT, "resets", ARGV[6])
  -- What failed before the reset and is told only now does not count. An emptied Redis knows of none.
  if resets then redis.call("HSET", CIRCUIT, "heard", math.max(circuit_field("heard") or 0, now)) end
end

local wanted, added, dropped = {}, 0, {}
for i = 7, #ARGV, 2 do wanted[ARGV[i]] = ARGV[i + 1] end

for _, asset in ipairs(redis.call("HKEYS", OWNERS)) do
  local dispatch = owner(asset)
  if wanted[asset] ~= dispatch then
    redis.call("HDEL", OWNERS, asset)
    dropped[#dropped + 1] = dispatch
  end
end
for _, asset in ipairs(redis.call("ZRANGE", ACTIVE, 0, -1)) do
  if redis.call("HEXISTS", OWNERS, asset) == 0 then
    redis.call("ZREM", ACTIVE, asset)
  end
end
for asset, dispatch in pairs(wanted) do
  redis.call("HSETNX", OWNERS, asset, dispatch)
  added = added + redis.call("ZADD", ACTIVE, now + tonumber(ARGV[5]), asset)
end
return {added, dropped, standing(now, limits)}
