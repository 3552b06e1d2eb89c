// Feeds bytes from a client to HTTP/1.1: nothing crashes, memory stays bounded, every request that
// is handed out can be answered, and splitting the bytes differently gives the same requests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "http/http1.h"
#include "http/testing/http_kit.h"

namespace {

using berth::http::Http1;
using berth::http::Limits;
using berth::http::Pieces;
using berth::http::ProtocolStage;
using berth::http::Pulled;
using berth::http::Request;
using berth::http::Source;

class ThreeParts final : public Source {
 public:
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    out.Add(std::string("part"));
    return ++pulls_ == 3 ? Pulled::kEnd : Pulled::kMore;
  }

 private:
  int pulls_ = 0;
};

Limits Small() {
  Limits limits;
  limits.header_bytes = 2000;
  limits.header_count = 20;
  limits.request_line_bytes = 500;
  limits.body_bytes = 3000;
  return limits;
}

/// Returns all requests as one text.
std::string Run(std::string_view bytes, size_t step) {
  ProtocolStage stage(Small());
  Http1 http(stage.env, stage, stage.peer);
  std::string asked;
  stage.handler = [&](uint32_t stream, const Request& request) {
    fuzz::Require(request.body.size() <= stage.limits.body_bytes);
    fuzz::Require(request.body.capacity() >= request.body.size() + 64);
    fuzz::Require(request.headers.size() <= stage.limits.header_count);
    asked += request.method + " " + request.path + "?" + request.query + "\n" + request.body + "\n";
    if (request.method == "GET") {
      http.Stream(stream, {}, std::make_unique<ThreeParts>());
    } else {
      http.Finish(stream, {.body = request.body});
    }
    http.Finish(stream, {.body = "a second answer"});
  };
  while (!bytes.empty() && !http.Done()) {
    const size_t part = std::min(step, bytes.size());
    http.Receive(bytes.substr(0, part));
    bytes.remove_prefix(part);
    const std::string out = stage.Drain(http, 100);
    fuzz::Require(out.empty() || out.starts_with("HTTP/1.1 "));
  }
  fuzz::Require(stage.errors.size() <= 1 && (stage.errors.empty() || http.Done()));
  if (!http.Done()) http.ReceiveEnd();
  stage.Drain(http);
  fuzz::Require(http.Done());
  fuzz::Require(stage.bodies.Take(stage.limits.body_memory));
  return asked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = Run(bytes, bytes.size());
  fuzz::Require(Run(bytes, 1) == whole);
  fuzz::Require(Run(bytes, 7) == whole);
  return 0;
}
