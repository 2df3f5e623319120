-- What wrk sends: the address it was given, reads of a path, or proofs of purchase to redeem, each once.
--   wrk … -s load.lua URL [-- KEY [PATH [TRANSACTIONS]]]
-- USER in the path, which needs LOAD_USERS, is a name of LOAD_PREFIX and a number from 0 up to LOAD_USERS; the names come from all
-- over, and each once before any comes again. The first LOAD_SKIP of them are left out. With a file of signed transactions, each
-- thread takes its share of the LOAD_LINES lines after the first LOAD_SKIP, and stops when they are used up.
local started = 0

function setup(thread)
  thread:set("number", started)
  started = started + 1
  thread:set("threads", tonumber(os.getenv("LOAD_THREADS")))
end

function init(arguments)
  local skip = tonumber(os.getenv("LOAD_SKIP")) or 0
  if arguments[1] then wrk.headers["Authorization"] = "Bearer " .. arguments[1] end
  path = arguments[2]
  users = tonumber(os.getenv("LOAD_USERS"))
  prefix = os.getenv("LOAD_PREFIX")
  place = skip + number
  if not arguments[3] then return end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  last = skip + tonumber(os.getenv("LOAD_LINES"))
  lines = io.open(arguments[3])
  for _ = 1, place do lines:read("*l") end
end

function request()
  if not path then return wrk.format() end
  local name = prefix .. place * 7919 % users
  place = place + threads
  local address = path:gsub("USER", name)
  if not lines then return wrk.format(nil, address) end
  local line = place <= last and lines:read("*l")
  if not line then
    io.stderr:write("the transactions are used up: make more with BENCH_TRANSACTIONS=N\n")
    os.exit(1)
  end
  for _ = 2, threads do lines:read("*l") end
  if path == "/v1/receipts" then
    return wrk.format(nil, address, nil, '{"app_user_id":"' .. name .. '","fetch_token":"' .. line .. '"}')
  end
  return wrk.format(nil, address, nil, '{"signedTransaction":"' .. line .. '"}')
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %.3f %.3f %.3f %d %d\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
