-- Put before every script: what a stage's circuit and budgets stand at, as JSON.
local function standing(now, limits)
  local state, spent = circuit_state(now, limits), spent_retries(now, limits)
  local told = {
    state = state,
    leases = redis.call("ZCARD", ACTIVE),
    failures = redis.call("ZCOUNT", FAILURES, now - limits.window_s, "+inf"),
    tests = state == "half_open" and tests_held() or 0,
    all_retries = spent.all,
    retries = {},
    workers = {},
  }
  if state ~= "closed" then
    told.open_for_s = now - circuit_field("since")
    told.next_test_s = math.max(0, circuit_field("opened") + limits.open_s - now)
  end
  for kind, number in pairs(spent.types) do told.retries[#told.retries + 1] = {kind, number} end
  for worker, number in pairs(spent.workers) do told.workers[#told.workers + 1] = {worker, number} end
  return cjson.encode(told)
end
