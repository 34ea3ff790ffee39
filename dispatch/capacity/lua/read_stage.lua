-- Purpose:   tell what a stage's circuit and budgets stand at, to explain them.
-- Guarantee: changes nothing but what its time has passed for.
-- ARGV:      now ("" = Redis TIME), limits (JSON)
-- Returns:   standing (JSON)
return standing(clock(ARGV[1]), cjson.decode(ARGV[2]))
