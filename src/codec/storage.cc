#include "codec/storage.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::codec {
namespace {

// Versions that older servers stored, and that have the same fields as the version served now.
struct OlderVersion {
  std::string_view stored;
  std::string_view served;
};
constexpr std::array<OlderVersion, 4> kOlderVersions = {{
    {"networking.k8s.io/v1beta1", "networking.k8s.io/v1"},
    {"networking.k8s.io/v1alpha1", "networking.k8s.io/v1"},
    {"coordination.k8s.io/v1beta1", "coordination.k8s.io/v1"},
    {"events.k8s.io/v1beta1", "events.k8s.io/v1"},
}};

base::Result<const api::Kind*> KindOf(std::string_view api_version, std::string_view kind) {
  const std::string_view named = api_version;
  for (const OlderVersion& version : kOlderVersions) {
    if (version.stored == api_version) api_version = version.served;
  }
  const api::Kind* found = api::FindKind(api_version, kind);
  if (found != nullptr) return found;
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("a stored object is of kind \"{}\" in version \"{}\", which is not "
                                "known",
                                kind, named));
}

tl::unexpected<base::Error> Undecodable(const std::string& why) {
  return base::Fail(base::Reason::kInternalError, "a stored object cannot be decoded: " + why);
}

base::Result<Stored> DecodeStoredProto(std::string_view bytes) {
  const auto envelope = DecodeEnvelope(bytes);
  if (!envelope) return Undecodable(envelope.error().message);
  const auto kind = KindOf(envelope->api_version, envelope->kind);
  if (!kind) return tl::unexpected(kind.error());
  auto object = DecodeProto(envelope->raw, *(*kind)->message, {.bytes = SIZE_MAX});
  if (!object) return Undecodable(object.error().message);
  return Stored{.kind = *kind, .object = std::move(*object)};
}

base::Result<Stored> DecodeStoredJson(std::string_view bytes) {
  const auto document = ParseJson(bytes, {.bytes = SIZE_MAX});
  if (!document) return Undecodable(document.error().message);
  const auto kind = KindOf(StringAt(*document, "apiVersion"), StringAt(*document, "kind"));
  if (!kind) return tl::unexpected(kind.error());
  auto decoded = DecodeValue(*document, *(*kind)->message);
  if (!decoded) return Undecodable(decoded.error().message);
  return Stored{.kind = *kind, .object = std::move(decoded->object)};
}

}  // namespace

std::string EncodeStored(const Value& canonical, const api::Kind& kind) {
  if (kind.has_protobuf) return EncodeEnvelope(canonical, kind, {.for_storage = true});
  const Identity identity{.api_version = kind.api_version, .kind = kind.kind};
  if (!HasAt(canonical, "metadata", "selfLink")) {
    return EncodeJson(canonical, *kind.message, identity).text;
  }
  Value copy = canonical;
  EraseAt(copy, {"metadata", "selfLink"});
  return EncodeJson(copy, *kind.message, identity).text;
}

base::Result<Stored> DecodeStored(std::string_view bytes) {
  auto stored =
      bytes.starts_with(kProtobufMagic) ? DecodeStoredProto(bytes) : DecodeStoredJson(bytes);
  // An engine may have kept a note there. The version itself comes from the store.
  if (stored) EraseAt(stored->object, {"metadata", "resourceVersion"});
  return stored;
}

}  // namespace berth::codec
