-- Put before every script.
local function clock(given)
  if given ~= "" then return tonumber(given) end
  local time = redis.call("TIME")
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

-- Refuses a tick that has been overtaken. The fence tells while Redis remembers it, the time tells also after
-- Redis was emptied: nobody can take the tick over before `valid_until`.
local function refuse_fenced(key, fence, valid_until, now)
  local held = tonumber(redis.call("GET", key) or "0")
  if tonumber(fence) < held or now > tonumber(valid_until) then
    return redis.error_reply("FENCED held " .. held)
  end
  redis.call("SET", key, fence)
  return nil
end
