// Parses continue tokens. An accepted token means the same after it is written again, and stays
// within the prefix of its list. A refusal has a reason. A token made of any position in a list can
// be parsed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "server/options.h"
#include "server/query.h"

namespace {

using berth::server::ContinueToken;
using berth::server::ReadContinueToken;
using berth::server::WriteContinueToken;

void RequireSameAgain(const ContinueToken& token) {
  const std::string text = WriteContinueToken(token);
  // It is put into a URL without escapes.
  fuzz::Require(berth::server::PercentDecode(text, true) == text);
  const auto again = ReadContinueToken(text);
  fuzz::Require(again.has_value());
  fuzz::Require(again->version == token.version && again->after == token.after);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = ReadContinueToken(text);
  if (token.has_value()) {
    fuzz::Require(token->version == -1 || token->version > 0);
    fuzz::Require(!token->after.empty());
    RequireSameAgain(*token);
  } else {
    fuzz::Require(token.error().reason == berth::base::Reason::kBadRequest);
    fuzz::Require(token.error().message.starts_with("invalid continue token: "));
  }
  // Use the same bytes as a position in a list. Keys are ASCII.
  ContinueToken place;
  if (size <= sizeof(place.version)) return 0;
  std::memcpy(&place.version, data, sizeof(place.version));
  place.version = std::max<int64_t>(place.version & INT64_MAX, 1);
  place.after = text.substr(sizeof(place.version));
  for (char& c : place.after) c = static_cast<char>(c & 0x7f);
  RequireSameAgain(place);
  return 0;
}
