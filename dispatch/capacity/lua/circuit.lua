-- Put before every script: the circuit of a stage. Without `opened` it is closed; opened, since (the first opening that
-- lasts until now) are on Redis's clock, heard (the last success) is on PostgreSQL's, number counts the openings.
local function circuit_field(name)
  return tonumber(redis.call("HGET", CIRCUIT, name))
end

local function circuit_state(now, limits)
  local opened = circuit_field("opened")
  if not opened then return "closed" end
  return now < opened + limits.open_s and "open" or "half_open"
end

local function open_circuit(now)
  redis.call("HINCRBY", CIRCUIT, "number", 1)
  redis.call("HSETNX", CIRCUIT, "since", now)
  redis.call("HSET", CIRCUIT, "opened", now)
  redis.call("DEL", FAILURES)
end

local function close_circuit()
  redis.call("HDEL", CIRCUIT, "opened", "since")
  redis.call("DEL", FAILURES)
end

-- Leases that hold a test permit of the present opening; a mark of an earlier one is no permit any more.
local function tests_held()
  local mark, held = ":" .. (circuit_field("number") or 0), 0
  for _, value in ipairs(redis.call("HVALS", OWNERS)) do
    if string.sub(value, -#mark) == mark then held = held + 1 end
  end
  return held
end
