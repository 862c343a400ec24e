-- shop: the everyday work of a small shop on one set of tables: loads, lookups with and without
-- an index, scans, joins, sub-queries, durable single-row writes against one transaction,
-- updates, a rollback, deletes, and 1, 4 and 8 clients. State accumulates: scenarios run in this
-- order, and each says what a right answer is.

local p = params {
  users = integer { 10000, min = 100, max = 1000000, quick = 1000, help = "rows of users" },
  orders = integer { 50000, min = 100, max = 1000000, quick = 5000, help = "rows of orders" },
  requests = integer { 100, min = 1, max = 100000, quick = 20, help = "requests of each concurrent client" },
  samples = integer { 7, min = 1, max = 10000, help = "timed executions of a read" },
  warmup = integer { 1, min = 0, max = 10000, help = "untimed executions before them" },
  batch = integer { 500, min = 1, max = 5000, help = "rows a statement of users, orders and wide" },
  small_batch = integer { 100, min = 1, max = 5000, help = "rows a statement of batch_t and items" },
}
local U, O = p.users, p.orders
local W = math.min(5000, U)     -- rows of wide
local L = math.min(2000, U)     -- rows of each table of the commit-size comparison
local half = U // 2

---------------------------------------------------------------------------------------------
-- Tables

local users = table { "users", rows = U,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "name", "VARCHAR(64)", format("user%d", row) },
  column { "age", "INTEGER", modulo(row, 100) } }

local orders = table { "orders", rows = O,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "user_id", "INTEGER", round_robin(U) },
  column { "product", "VARCHAR(64)", format("item%d", modulo(row, 50)) } }

local wide = table { "wide", rows = W,      -- random letters: a payload that does not compress away
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "payload", "VARCHAR(512)", text(512) } }

local writes = table { "writes", rows = 400,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "name", "VARCHAR(64)", format("w%d", row) },
  column { "age", "INTEGER", row } }

local batch_t = table { "batch_t", rows = U,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "name", "VARCHAR(64)", format("b%d", row) },
  column { "age", "INTEGER", modulo(row, 100) } }

local items = table { "items", rows = O,
  column { "id", "INTEGER PRIMARY KEY", sequence(1) },
  column { "code", "INTEGER", affine(7, row, 1) } }

-- Equal tables for the comparison of commit sizes: only the rows of a commit differ.
local function commit_table(name)
  return table { name, rows = L,
    column { "id", "INTEGER PRIMARY KEY", sequence(1) },
    column { "name", "VARCHAR(64)", format("c%d", row) },
    column { "age", "INTEGER", modulo(row, 100) } }
end
local commit_1, commit_100, commit_500 =
  commit_table("commit_1"), commit_table("commit_100"), commit_table("commit_500")

---------------------------------------------------------------------------------------------
-- Right answers, from the generators

-- Never created: each age and how many users have it. Users are numbered 1 to U, and the age is
-- the number mod 100; there is no user 0, who would be one more of age 0.
local ages = table { "ages", rows = math.min(100, U),
  column { "age", "INTEGER", row - 1 },
  column { "n", "INTEGER", (U + 100 - col "age") // 100 - is(col "age", "=", 0) } }

local owners = distinct(orders, "user_id")
local with_orders = math.min(20, U, owners)

local every_user = answer { users, "id", "name", "age" }
local every_order = answer { orders, "id", "user_id", "product" }
local every_payload = answer { wide, "id", "payload" }
local older = answer { users, "name", where = is(col "age", ">", 90) }
local joined = answer { orders, at(users, "name", col "user_id"),
  where = is(at(users, "age", col "user_id"), ">", 90) }
local by_age = answer { ages, "age", "n" }
local first100 = answer { users, "id", where = is(col "id", "<=", 100) }
local first20 = answer { users, "name", where = is(col "id", "<=", with_orders) }

-- The 100 oldest are known when exactly 100 have the highest age; otherwise any of them may come.
local oldest = { rows = 100 }
if value_at(ages, "n", 100) == 100 then
  oldest = { answer = answer { users, "name", where = is(col "age", "=", 99) } }
end

---------------------------------------------------------------------------------------------
-- Scenario shapes

-- A read: untimed executions and then samples, every one checked.
local function sampled(name, sql, expect, more)
  local fields = { name, sql = sql, warmup = p.warmup, samples = p.samples, expect = expect }
  for key, value in pairs(more or {}) do fields[key] = value end
  return scenario(fields)
end

local function once(name, sql, more)
  local fields = { name, sql = sql, warmup = 0, samples = 1 }
  for key, value in pairs(more or {}) do fields[key] = value end
  return scenario(fields)
end

local function ddl(name, sql, more)
  local fields = { name, sql = sql, direct = true, warmup = 0, samples = 1 }
  for key, value in pairs(more or {}) do fields[key] = value end
  return scenario(fields)
end

local join_sql = [[SELECT u.name FROM users u JOIN orders o ON u.id = o.user_id WHERE u.age > 90]]
local older_sql = [[SELECT name FROM users WHERE age > 90]]
local name_sql = [[SELECT id FROM users WHERE name = :name]]
local code_sql = [[SELECT id FROM items WHERE code = :code]]
local exists_sql = [[SELECT u.name FROM (SELECT id, name FROM users WHERE id <= 20) u
  WHERE EXISTS (SELECT o.id FROM orders o WHERE o.user_id = u.id)]]
local set = { equal = "rows" }

local name_bind = { bind = { name = format("user%d", half) } }
local name_expect = { rows = 1, value = half }
local code_bind = { bind = { code = 7 * (O // 2) + 1 } }
local code_expect = { rows = 1, value = O // 2 }

local function drop_index(name, on)
  return { mariadb = "DROP INDEX " .. name .. " ON " .. on, default = "DROP INDEX " .. name }
end

-- Columns of the tables that exist when the catalog is asked.
local catalog_sql = {
  sqlite = [[SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name IN ('users', 'orders')]],
  postgres = [[SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name IN ('users', 'orders')]],
  default = [[SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name IN ('users', 'orders')]] }

local function point(clients_fields)
  local fields = { sql = "SELECT id FROM users WHERE id = :id", warmup = p.warmup, clients = { 1, 4, 8 },
    per_client = p.requests }
  for key, value in pairs(clients_fields) do fields[key] = value end
  return scenario(fields)
end

-- What the catalog's statistics would say, by the tables themselves: rows, and distinct values of
-- columns, { { name, values }, ... }.
local function stats(of, rows, columns)
  local counts, values = "COUNT(*)", { rows }
  for _, column in ipairs(columns) do
    counts = counts .. ", COUNT(DISTINCT " .. column[1] .. ")"
    table.insert(values, column[2])
  end
  return once("stats_" .. of, "SELECT " .. counts .. " FROM " .. of,
    { help = "rows and distinct values of " .. of, expect = { rows = 1, values = values } })
end

local index_list_sql = {
  sqlite = [[SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN ('users_name', 'items_code') ORDER BY name]],
  postgres = [[SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
    AND indexname IN ('users_name', 'items_code') ORDER BY indexname]],
  default = [[SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = DATABASE()
    AND index_name IN ('users_name', 'items_code') ORDER BY index_name]] }

local same_sql = "nothing else: the same statement before and after CREATE INDEX"

return suite { "shop",
  summary = "loads, lookups, scans, joins, durable writes and 1 to 8 clients on one set of tables",

  -- Load
  create { "create_users", users },
  create { "create_orders", orders },
  load { "load_users", users, batch = p.batch, commit = p.batch },
  load { "load_orders", orders, batch = p.batch, commit = p.batch },

  ddl("analyze", { sqlite = "ANALYZE", postgres = "ANALYZE users, orders",
    default = "ANALYZE TABLE users, orders" }, { help = "statistics for the planner, as after any load" }),

  -- The protocol and the catalog
  ping { "ping", warmup = 1, samples = 200, help = "protocol no-operation, no storage" },
  scenario { "catalog", sql = catalog_sql, warmup = 1, samples = 200, expect = { rows = 6 },
    help = "columns of two tables from the catalog" },

  -- First contact: one untimed, one timed
  scenario { "first_users", sql = "SELECT * FROM users", warmup = 1, samples = 1,
    expect = { answer = every_user }, equal = "rows" },
  scenario { "first_older", sql = older_sql, warmup = 1, samples = 1, expect = { answer = older }, equal = "rows" },
  scenario { "first_join", sql = join_sql, warmup = 1, samples = 1, expect = { answer = joined }, equal = "rows" },
  scenario { "point_lookup", sql = "SELECT name FROM users WHERE id = :id", bind = { id = half },
    warmup = 1, samples = 100, expect = { rows = 1, value = value_at(users, "name", half) } },

  -- Reads
  sampled("scan_users", "SELECT * FROM users", { answer = every_user }, set),
  sampled("scan_orders", "SELECT * FROM orders", { answer = every_order }, set),
  sampled("id_point", "SELECT id FROM users WHERE id = :id", { rows = 1, value = half },
    { bind = { id = half } }),
  sampled("name_scan", name_sql, name_expect, name_bind),
  ddl("create_index_name", "CREATE INDEX users_name ON users(name)"),
  sampled("name_index", name_sql, name_expect, name_bind),
  sampled("id_range100", "SELECT id FROM users WHERE id >= :low AND id <= :high", { answer = first100 },
    { bind = { low = 1, high = 100 }, equal = "rows" }),
  sampled("sort_top100", "SELECT name FROM users ORDER BY age DESC LIMIT 100", oldest),
  sampled("group100", "SELECT age, COUNT(*) FROM users GROUP BY age", { answer = by_age }, set),
  sampled("filtered_join", join_sql, { answer = joined }, set),
  sampled("derived_join", [[SELECT d.name FROM (SELECT id, name FROM users WHERE age > 90) d
    JOIN orders o ON d.id = o.user_id]], { answer = joined }, set),
  sampled("cte_group", [[WITH a AS (SELECT age FROM users)
    SELECT age, COUNT(*) FROM a GROUP BY age]], { answer = by_age }, set),
  sampled("scalar_subquery", "SELECT name, (SELECT COUNT(*) FROM orders) FROM users LIMIT 100",
    { rows = 100, values = { any, O } }),
  sampled("correlated_exists20", exists_sql, { answer = first20 }, set),
  ddl("create_index_user_id", "CREATE INDEX orders_user_id ON orders(user_id)"),
  sampled("correlated_exists20_indexed", exists_sql, { answer = first20 }, set),
  ddl("drop_index_user_id", drop_index("orders_user_id", "orders")),
  create { "create_wide", wide },
  load { "load_wide", wide, batch = p.batch, commit = p.batch },
  sampled("scan_wide512B", "SELECT * FROM wide", { answer = every_payload }, set),

  -- Clients: the same row for all, then a row for each
  point { "concurrent", bind = { id = 1 }, expect = { rows = 1, value = 1 },
    help = "all clients read the same row" },
  point { "concurrent_uniform", bind = { id = uniform(1, U) }, expect = { rows = 1, value = bound "id" },
    help = "every request reads a row drawn evenly" },

  -- Writes
  create { "create_writes", writes },
  scenario { "insert200", steps = { insert { writes } }, warmup = 0, samples = 200,
    expect = { growth = { writes, 200 } }, help = "200 rows, each its own durable commit" },
  scenario { "transaction200", warmup = 0, samples = 1, first = 201,
    steps = { begin { phase = "begin" }, insert { writes, times = 200, phase = "insert" },
      commit { phase = "commit" } },
    after = { query { "count", sql = "SELECT COUNT(*) FROM writes", value = 400 } },
    expect = { growth = { writes, 200 } }, help = "200 rows in one transaction" },
  once("update400", "UPDATE writes SET age = age + 1", { expect = { affected = 400 } }),
  scenario { "update_rollback", warmup = 0, samples = 1,
    steps = { begin { phase = "begin" },
      execute { sql = "UPDATE writes SET age = 0", expect = { affected = 400 }, phase = "update" },
      rollback { phase = "rollback" } },
    after = { query { "age of row 1", sql = "SELECT age FROM writes WHERE id = 1", value = 2 } },
    help = "an update that is taken back" },
  once("delete200", "DELETE FROM writes WHERE id > 200", { expect = { affected = 200 },
    after = { query { "count", sql = "SELECT COUNT(*) FROM writes", value = 200 } } }),

  -- Rows of a commit, on equal tables
  create { "create_commit_1", commit_1 },
  create { "create_commit_100", commit_100 },
  create { "create_commit_500", commit_500 },
  load { "load_commit_1", commit_1, batch = 1, commit = 1 },
  load { "load_commit_100", commit_100, batch = 1, commit = 100 },
  load { "load_commit_500", commit_500, batch = 1, commit = 500 },
  create { "create_batch_t", batch_t },
  load { "load_batch_t", batch_t, batch = p.small_batch, commit = p.small_batch },

  -- Deletes
  once("delete_one_user", "DELETE FROM users WHERE id = :id",
    { bind = { id = half }, expect = { affected = 1 } }),
  once("delete_all_users", "DELETE FROM users", { expect = { affected = U - 1 },
    after = { query { "count", sql = "SELECT COUNT(*) FROM users", value = 0 } } }),

  -- A lookup before and after its index
  create { "create_items", items },
  load { "load_items", items, batch = p.small_batch, commit = p.small_batch },
  sampled("code_scan", code_sql, code_expect, code_bind),
  ddl("create_index_code", "CREATE INDEX items_code ON items(code)"),
  sampled("code_index", code_sql, code_expect, code_bind),

  -- What is there at the end
  stats("users", 0, { { "name", 0 }, { "age", 0 } }),
  stats("orders", O, { { "user_id", owners }, { "product", distinct(orders, "product") } }),
  stats("wide", W, { { "id", W } }),
  stats("writes", 200, { { "name", 200 }, { "age", 200 } }),
  stats("batch_t", U, { { "name", U }, { "age", distinct(batch_t, "age") } }),
  stats("items", O, { { "code", O } }),
  once("index_list", index_list_sql, { expect = { rows = 2, value = "items_code" },
    help = "indexes that must exist at the end" }),

  -- What the figures say together
  relation { "single commits against one transaction", a = "insert200", b = "transaction200",
    metric = "wall_ns", stat = "value",
    differs = "the second adds to a table that has 200 rows" },
  relation { "scan of orders against users", a = "scan_orders", b = "scan_users",
    metric = "service_ns", stat = "p50",
    differs = O .. " against " .. U .. " rows; other columns" },
  relation { "8 clients against 1: throughput", a = { "concurrent", clients = 8 },
    b = { "concurrent", clients = 1 }, metric = "throughput_per_s", stat = "value",
    differs = "all read the same row" },
  relation { "8 clients against 1: latency", a = { "concurrent", clients = 8 },
    b = { "concurrent", clients = 1 }, metric = "service_ns", stat = "mean",
    differs = "all read the same row" },
  relation { "name: without index against with", a = "name_scan", b = "name_index",
    metric = "service_ns", stat = "p50",
    differs = same_sql },
  relation { "code: without index against with", a = "code_scan", b = "code_index",
    metric = "service_ns", stat = "p50",
    differs = same_sql },
  relation { "EXISTS: without inner index against with", a = "correlated_exists20",
    b = "correlated_exists20_indexed", metric = "service_ns", stat = "p50",
    differs = same_sql },
  relation { "EXISTS of 20 against one scan of orders", a = "correlated_exists20",
    b = "scan_orders", metric = "service_ns", stat = "p50",
    differs = "the scan also returns its rows; EXISTS may stop at the first" },
  relation { "one-row lookup against a scan", a = "name_scan", b = "scan_users",
    metric = "service_ns", stat = "p50", differs = "1 row returned against " .. U },
  relation { "top 100 against a scan", a = "sort_top100", b = "scan_users",
    metric = "service_ns", stat = "p50", differs = "100 rows returned against " .. U .. ", sorted" },
  relation { "1 row a commit against 500", a = "load_commit_1", b = "load_commit_500",
    metric = "wall_ns", stat = "value",
    differs = "equal tables; autocommit against BEGIN and COMMIT around the rows" },
  relation { "1 row a commit against 100", a = "load_commit_1", b = "load_commit_100",
    metric = "wall_ns", stat = "value",
    differs = "equal tables; autocommit against BEGIN and COMMIT around the rows" },
}
