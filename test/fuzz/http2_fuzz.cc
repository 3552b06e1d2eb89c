// Feeds bytes from a client to HTTP/2: nothing crashes, limits hold, and all memory taken for
// bodies is released. The input is what follows the client's connection preface.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "http/http2.h"
#include "http/testing/http_kit.h"

namespace {

using berth::http::Http2;
using berth::http::Limits;
using berth::http::Pieces;
using berth::http::ProtocolStage;
using berth::http::Pulled;
using berth::http::Request;
using berth::http::Source;

class ThreeParts final : public Source {
 public:
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    out.Add(std::string(100, 'x'));
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
  limits.h2_streams = 10;
  limits.h2.resets = {.burst = 20, .per_second = 1};
  limits.h2.controls = {.burst = 20, .per_second = 1};
  return limits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ProtocolStage stage(Small());
  Http2 http(stage.env, stage, stage.peer);
  uint64_t asked = 0;
  stage.handler = [&](uint32_t stream, const Request& request) {
    ++asked;
    fuzz::Require(request.body.size() <= stage.limits.body_bytes);
    fuzz::Require(request.body.capacity() >= request.body.size() + 64);
    fuzz::Require(request.headers.size() <= stage.limits.header_count);
    fuzz::Require(!request.path.empty());
    if (request.method == "GET") {
      http.Stream(stream, {}, std::make_unique<ThreeParts>());
    } else if (request.method != "PUT") {  // A PUT is never answered.
      http.Finish(stream, {.body = request.body});
    }
  };
  http.Receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  constexpr size_t kStep = 64;
  while (!bytes.empty() && !http.Done()) {
    http.Receive(bytes.substr(0, kStep));
    bytes.remove_prefix(std::min(kStep, bytes.size()));
    stage.Drain(http, 100);
    stage.Pass(http, std::chrono::milliseconds(1));
  }
  if (size % 2 == 0) http.Drain();
  stage.Drain(http);
  stage.Pass(http, std::chrono::minutes(10));
  stage.Drain(http);
  fuzz::Require(stage.counters.requests_http2.Get() == asked);
  return 0;
}
