-- wrk script: creates and deletes Services, with about the same number at any time. Each created
-- Service is deleted later, in order. env: SPEC (JSON members of the spec), HOLD (how many to keep
-- for each thread), TOKEN, RUN (unique run tag).
local tid = 0
function setup(thread) thread:set("id", tid); tid = tid + 1 end
function init(args)
  n = 0
  made, first, last = {}, 1, 0
  spec = os.getenv("SPEC") or ""
  hold = tonumber(os.getenv("HOLD") or "64")
  run = os.getenv("RUN") or "r"
  hdr = { ["Content-Type"] = "application/json", ["Accept"] = "application/json" }
  hdr["Authorization"] = "Bearer " .. os.getenv("TOKEN")
  path = "/api/v1/namespaces/default/services"
end
function request()
  if last - first + 1 > hold then
    local name = made[first]
    made[first] = nil
    first = first + 1
    return wrk.format("DELETE", path .. "/" .. name, hdr)
  end
  n = n + 1
  return wrk.format("POST", path, hdr, string.format('{"apiVersion":"v1","kind":"Service","metadata":{"name":"%s-%d-%d"},"spec":{%s"selector":{"app":"web"},"ports":[{"port":80}]}}', run, id, n, spec))
end
function response(status, headers, body)
  if status == 201 then
    last = last + 1
    made[last] = string.match(body, '"name":"([^"]+)"')
  end
end
