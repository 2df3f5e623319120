-- What wrk sends: the address it was given, reads of users' items, or signed transactions to redeem, each once.
--   wrk … -s load.lua URL [-- KEY [TRANSACTIONS]]
-- With a file of transactions, each thread takes its share of the lines after the first LOAD_SKIP, and stops when they are used
-- up. With LOAD_DOOR, the requests are those of RevenueCat's SDKs. The users are u0, u1 and so on, LOAD_USERS of them, taken from all over.
local started = 0

function setup(thread)
  thread:set("number", started)
  started = started + 1
  thread:set("threads", tonumber(os.getenv("LOAD_THREADS")))
end

function init(arguments)
  bare = not arguments[1]
  if bare then return end
  users = tonumber(os.getenv("LOAD_USERS"))
  door = os.getenv("LOAD_DOOR") == "1"
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  if arguments[2] then
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    lines = io.open(arguments[2])
    for _ = 1, number + (tonumber(os.getenv("LOAD_SKIP")) or 0) do lines:read("*l") end
  end
  count = 0
end

function request()
  if bare then return wrk.format() end
  count = count + 1
  local name = "u" .. (count * threads + number) * 7919 % users
  local user = (door and "/v1/subscribers/" or "/v1/users/") .. name
  if not lines then return wrk.format(nil, door and user or user .. "/items") end
  local line = lines:read("*l")
  if not line then
    io.stderr:write("the transactions are used up: make more with BENCH_TRANSACTIONS=N\n")
    os.exit(1)
  end
  for _ = 2, threads do lines:read("*l") end
  if door then
    return wrk.format(nil, "/v1/receipts", nil, '{"app_user_id":"' .. name .. '","fetch_token":"' .. line .. '"}')
  end
  return wrk.format(nil, user .. "/transactions", nil, '{"signedTransaction":"' .. line .. '"}')
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %.3f %.3f %.3f %d %d\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
