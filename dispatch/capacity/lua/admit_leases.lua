-- Purpose:   grant leases of one stage to candidates, in order, while circuit, quota and budgets allow.
-- Guarantee: all or nothing per candidate; never more leases than the quota, nor more than quota - active rows new
--            ones; while the circuit is half open at most `tests` of its leases, each marked, first to candidates that
--            are no retry. A fenced tick changes nothing.
-- ARGV:      now ("" = Redis TIME), fence, valid_until, limits (JSON), ttl, quota, active rows counted by this tick,
--            then asset, dispatch_id, failure type it is a retry of ("" = none), worker that failed it ("" = unknown)
--            for each candidate
-- Returns:   one word per candidate: granted, duplicate, backpressure, circuit_open, half_open_limit,
--            retry_budget_exceeded
local now = clock(ARGV[1])
local refusal = refuse_fenced(ARGV[2], ARGV[3], now)
if refusal then return refusal end
local limits = cjson.decode(ARGV[4])

for _, asset in ipairs(redis.call("ZRANGEBYSCORE", ACTIVE, "-inf", now)) do drop_lease(asset) end

local ttl, quota = tonumber(ARGV[5]), tonumber(ARGV[6])
local in_use = math.max(redis.call("ZCARD", ACTIVE), tonumber(ARGV[7]))
local circuit, spent = circuit_state(now, limits), spent_retries(now, limits)
local tests = circuit == "half_open" and tests_held() or 0
local mark = circuit == "half_open" and ":" .. circuit_field("number") or ""

local function judge(asset, dispatch, kind, worker)
  if circuit == "open" then return "circuit_open" end
  if circuit == "half_open" and tests >= limits.tests then return "half_open_limit" end
  if redis.call("HEXISTS", OWNERS, asset) == 1 then return "duplicate" end
  if in_use >= quota then return "backpressure" end
  if kind ~= "" then
    if not has_budget(spent, limits, kind, worker) then return "retry_budget_exceeded" end
    spend_retry(spent, now, dispatch, kind, worker)
  end
  redis.call("ZADD", ACTIVE, now + ttl, asset)
  redis.call("HSET", OWNERS, asset, dispatch .. mark)
  in_use = in_use + 1
  tests = tests + 1
  return "granted"
end

local verdicts = {}
local function judge_all(wanted)
  for i = 8, #ARGV, 4 do
    if wanted(ARGV[i + 2]) then verdicts[(i - 8) / 4 + 1] = judge(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) end
  end
end

if circuit == "half_open" then
  judge_all(function(kind) return kind == "" end)
  judge_all(function(kind) return kind ~= "" end)
else
  judge_all(function() return true end)
end
return verdicts
