-- Purpose:   free the lease of one ended dispatch.
-- Guarantee: frees it only while that dispatch holds it; a repeat, or a lease that passed on, changes nothing.
-- KEYS:      active, owners
-- ARGV:      asset, dispatch_id
-- Returns:   1 when freed, 0 otherwise
if redis.call("HGET", KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call("HDEL", KEYS[2], ARGV[1])
redis.call("ZREM", KEYS[1], ARGV[1])
return 1
