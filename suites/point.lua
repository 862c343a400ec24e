-- Point reads: what one lookup by key costs.
--
--   dbdyno run point
--   dbdyno run point --param rows=1000000 --param clients=16
--   dbdyno run point --on null            what the stand itself costs

local p = params {
  rows    = integer { 100000, min = 1, max = 100000000, quick = 1000, help = "rows of the table" },
  clients = integer { 1, min = 1, max = 5000, help = "clients that read at the same time" },
  reads   = integer { 2000, min = 1, max = 100000000, quick = 200, help = "reads of each client" },
}

local items = table { "items", rows = p.rows,
  column { "id",    "INTEGER PRIMARY KEY", sequence(1) },
  column { "value", "INTEGER",             permute(row, p.rows) },
  column { "name",  "VARCHAR(64)",         format("item%d", row) },
}

-- One row by its key; the value that comes back must be the one that was loaded.
local function read(name, help, key)
  return scenario { name, help = help,
    sql     = "SELECT value FROM items WHERE id = :id",
    bind    = { id = key },
    warmup  = 10, per_client = p.reads, clients = p.clients,
    expect  = { rows = 1, value = at(items, "value", bound "id") },
  }
end

return suite { "point", summary = "one row by its key, uniform and skewed",
  create { "create_items", items },
  load   { "load_items", items, batch = 500, commit = 500 },
  read("point",      "keys uniform over the table",        uniform(1, p.rows)),
  read("point_zipf", "a few keys are read most of the time", zipf(p.rows, 0.99)),
}
