-- Purpose:   free the lease of one ended dispatch, and tell circuit and budgets how it ended.
-- Guarantee: frees it only while that dispatch holds it; a repeat, or a lease that passed on, changes nothing. An open
--            or half-open circuit is moved only by a test of the present opening. Ends count by the time they happened:
--            what is older than the last success opens nothing. A success told late does not undo an opening.
-- ARGV:      now ("" = Redis TIME), asset, dispatch_id, limits (JSON), ending (success, failure, none), time of the end on
--            PostgreSQL's clock, whether it cost nothing (1: the retry it spent is given back)
-- Returns:   {1 when freed else 0, what became of the circuit: opened, reopened, closed or ""}
local now, asset, dispatch = clock(ARGV[1]), ARGV[2], ARGV[3]
local limits, ending, at = cjson.decode(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local holder, number = owner(asset)
local freed = holder == dispatch
if freed then drop_lease(asset) end
if ARGV[7] == "1" then give_back_retry(dispatch) end

local is_current_test = freed and number ~= nil and number == circuit_field("number")
local heard = circuit_field("heard") or 0

local function tell()
  if ending == "none" then return "" end
  if circuit_state(now, limits) ~= "closed" then
    if not is_current_test then return "" end
    if ending == "failure" then
      open_circuit(now)
      return "reopened"
    end
    close_circuit()
    redis.call("HSET", CIRCUIT, "heard", math.max(heard, at))
    return "closed"
  end
  if ending == "success" then
    redis.call("HSET", CIRCUIT, "heard", math.max(heard, at))
    redis.call("ZREMRANGEBYSCORE", FAILURES, "-inf", at)
    return ""
  end
  if at <= heard then return "" end
  redis.call("ZADD", FAILURES, at, dispatch)
  local newest = redis.call("ZRANGE", FAILURES, -1, -1, "WITHSCORES")[2]
  redis.call("ZREMRANGEBYSCORE", FAILURES, "-inf", tonumber(newest) - limits.window_s)
  if redis.call("ZCARD", FAILURES) < limits.failures then return "" end
  open_circuit(now)
  return "opened"
end

return {freed and 1 or 0, tell()}
