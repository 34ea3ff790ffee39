-- Put before every script. KEYS are the same in all of them: fence, active, owners, circuit, failures, retries of the
-- stage, retries of all stages (keys.py says what each holds).
local FENCE, ACTIVE, OWNERS, CIRCUIT, FAILURES, RETRIES, ALL_RETRIES = unpack(KEYS)

local function clock(given)
  if given ~= "" then return tonumber(given) end
  local time = redis.call("TIME")
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

-- Refuses a tick that has been overtaken. The fence tells while Redis remembers it, the time tells also after
-- Redis was emptied: nobody can take the tick over before `valid_until`.
local function refuse_fenced(fence, valid_until, now)
  local held = tonumber(redis.call("GET", FENCE) or "0")
  if tonumber(fence) < held or now > tonumber(valid_until) then
    return redis.error_reply("FENCED held " .. held)
  end
  redis.call("SET", FENCE, fence)
  return nil
end

-- An owner is "dispatch", or "dispatch:number" when the lease holds a test permit of the circuit's opening `number`.
local function owner(asset)
  local held = redis.call("HGET", OWNERS, asset)
  if not held then return nil, nil end
  local dispatch, number = string.match(held, "^(.*):(%d+)$")
  return dispatch or held, tonumber(number)
end

local function drop_lease(asset)
  redis.call("ZREM", ACTIVE, asset)
  redis.call("HDEL", OWNERS, asset)
end
