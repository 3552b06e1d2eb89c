// Parses an Accept header of arbitrary bytes. Spaces around its separators change nothing, the
// server can write the negotiated form, and a refusal has a reason.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "server/accept.h"

namespace {

using berth::base::Reason;
using berth::server::Accepted;
using berth::server::Media;
using berth::server::Offer;
using berth::server::Transform;

std::string Spaced(std::string_view text) {
  std::string spaced;
  for (const char c : text) {
    if (c == ',' || c == ';') {
      spaced += {' ', c, ' '};
    } else {
      spaced += c;
    }
  }
  return spaced;
}

bool Same(const Accepted& a, const Accepted& b) {
  return a.media == b.media && a.transform == b.transform &&
         a.transform_version == b.transform_version && a.pretty == b.pretty;
}

void Check(std::string_view text, const Offer& offer) {
  const auto accepted = Negotiate(text, offer);
  const auto spaced = Negotiate(Spaced(text), offer);
  fuzz::Require(accepted.has_value() == spaced.has_value());
  if (!accepted) {
    fuzz::Require(accepted.error().reason == Reason::kNotAcceptable);
    fuzz::Require(!accepted.error().message.empty());
    return;
  }
  fuzz::Require(Same(*accepted, *spaced));
  const bool plain = accepted->transform == Transform::kNone;
  fuzz::Require(plain == accepted->transform_version.empty());
  fuzz::Require(plain || offer.tables);
  if (accepted->media == Media::kProtobuf) {
    fuzz::Require(accepted->transform != Transform::kTable);
    fuzz::Require(!plain || offer.protobuf);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool protobuf : {false, true}) {
    for (const bool tables : {false, true}) Check(text, {.protobuf = protobuf, .tables = tables});
  }
  const auto failure = berth::server::NegotiatePlain(text);
  fuzz::Require(!failure || failure->transform == Transform::kNone);
  fuzz::Require(berth::server::WantsAggregatedDiscovery(text) ==
                berth::server::WantsAggregatedDiscovery(Spaced(text)));
  if (const auto media = berth::server::BodyMedia(text)) {
    fuzz::Require(berth::server::BodyMedia(berth::server::MediaName(*media)) == media);
  } else {
    fuzz::Require(media.error().reason == Reason::kUnsupportedMediaType);
  }
  return 0;
}
