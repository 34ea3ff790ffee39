-- Put before every script: the rate budgets. A retry that was admitted is one member "dispatch:type:worker" of two sorted
-- sets, scored with the time of its admission: that of its stage and that of all stages.
local function spent_retries(now, limits)
  redis.call("ZREMRANGEBYSCORE", RETRIES, "-inf", now - limits.type_window_s)
  redis.call("ZREMRANGEBYSCORE", ALL_RETRIES, "-inf", now - limits.rate_window_s)
  local spent = {types = {}, workers = {}, all = redis.call("ZCARD", ALL_RETRIES)}
  local members = redis.call("ZRANGE", RETRIES, 0, -1, "WITHSCORES")
  for i = 1, #members, 2 do
    local kind, worker = string.match(members[i], "^[^:]*:([^:]*):(.*)$")
    spent.types[kind] = (spent.types[kind] or 0) + 1
    if worker ~= "" and tonumber(members[i + 1]) > now - limits.rate_window_s then
      spent.workers[worker] = (spent.workers[worker] or 0) + 1
    end
  end
  return spent
end

local function has_budget(spent, limits, kind, worker)
  if (spent.types[kind] or 0) >= (limits.types[kind] or 0) then return false end
  if spent.all >= limits.all then return false end
  return worker == "" or (spent.workers[worker] or 0) < limits.worker
end

local function spend_retry(spent, now, dispatch, kind, worker)
  local member = dispatch .. ":" .. kind .. ":" .. worker
  redis.call("ZADD", RETRIES, now, member)
  redis.call("ZADD", ALL_RETRIES, now, member)
  spent.types[kind] = (spent.types[kind] or 0) + 1
  spent.all = spent.all + 1
  if worker ~= "" then spent.workers[worker] = (spent.workers[worker] or 0) + 1 end
end

local function give_back_retry(dispatch)
  local prefix = dispatch .. ":"
  for _, member in ipairs(redis.call("ZRANGE", RETRIES, 0, -1)) do
    if string.sub(member, 1, #prefix) == prefix then
      redis.call("ZREM", RETRIES, member)
      redis.call("ZREM", ALL_RETRIES, member)
    end
  end
end
