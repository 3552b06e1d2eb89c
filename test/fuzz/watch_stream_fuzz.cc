// Reads the bytes of a watch. The events are the same in one part and in many parts, and each has
// what its type promises. The first byte says how long the parts are.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "fuzz/require.h"
#include "kube/watch_stream.h"

namespace {

using berth::kube::ServerEvent;
using berth::kube::WatchStream;

struct Outcome {
  std::vector<std::string> revisions;
  bool failed = false;
};

Outcome ReadInParts(std::string_view text, size_t size, const berth::api::Message* message) {
  WatchStream stream(message);
  Outcome outcome;
  for (size_t at = 0; at < text.size() && !outcome.failed; at += size) {
    const auto fed = stream.Feed(text.substr(at, size), [&](const ServerEvent& event) {
      const bool error = event.type == ServerEvent::Type::kError;
      fuzz::Require(event.revision.empty() == error);
      fuzz::Require((event.object.AsObject() == nullptr) == error);
      outcome.revisions.push_back(event.revision);
      return true;
    });
    outcome.failed = !fed;
    if (!fed) fuzz::Require(fed.error().message.starts_with("not an event of a watch: "));
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const berth::api::Message* message :
       {berth::api::kServiceKind.message, static_cast<const berth::api::Message*>(nullptr)}) {
    const Outcome whole = ReadInParts(text, text.size() + 1, message);
    const Outcome parts = ReadInParts(text, size_t{data[0]} + 1, message);
    fuzz::Require(whole.revisions == parts.revisions && whole.failed == parts.failed);
  }
  return 0;
}
