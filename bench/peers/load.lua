-- wrk -s load.lua URL -- BODY TOKENS: the same body with the tokens of many tenants, one after the other
local number, requests = 0, {}
function init(arguments)
  local file = io.open(arguments[1])
  local body = file:read("*a")
  file:close()
  for token in io.lines(arguments[2]) do
    local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. token }
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end
function request()
  number = number % #requests + 1
  return requests[number]
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %.3f %.3f %d\n", summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
