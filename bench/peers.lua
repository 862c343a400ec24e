-- What bench/peers runs beside pgbench and sysbench: their point select, one statement a round trip
-- or 64 of them in a pipeline. The tables are theirs (pgbench -i, sysbench prepare), or the canned
-- row of null_postgres.

local p = params {
  work    = text { "point", help = "point, pipeline or sysbench" },
  rows    = integer { 1000000, min = 1, max = 1000000000, help = "rows of their table" },
  clients = integer { 8, min = 1, max = 5000, help = "clients" },
}

local key = uniform(1, p.rows)
local account = "SELECT abalance FROM public.pgbench_accounts WHERE aid = :aid"

local function pipelined(count)
  local steps = {}
  for i = 1, count do
    steps[i] = execute { account, bind = { aid = uniform(1, p.rows) },
                         expect = { rows = 1, value = 0 } }
  end
  return pipeline(steps)
end

local works = {
  point = function()
    return scenario { "point", sql = account, bind = { aid = key }, clients = p.clients,
      expect = { rows = 1, value = 0 } }
  end,
  pipeline = function()
    return scenario { "pipeline", steps = { pipelined(64) }, clients = p.clients }
  end,
  sysbench = function()
    return scenario { "sysbench", clients = p.clients, bind = { id = key }, expect = { rows = 1 },
      sql = { postgres = "SELECT c FROM public.sbtest1 WHERE id = :id",
              mariadb  = "SELECT c FROM sbtest.sbtest1 WHERE id = :id" } }
  end,
}

return suite { "peers", summary = "the point selects of pgbench and sysbench", works[p.work]() }
