#include "server/discovery_proto.h"

#include <string_view>

#include "codec/proto_frame.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::server {
namespace {

using codec::AppendProtoField;
using codec::ArrayAt;
using codec::StringAt;
using codec::Value;

void AppendTexts(std::string& out, uint32_t number, const codec::Array& texts) {
  for (const Value& text : texts) AppendProtoField(out, number, codec::Text(&text));
}

/// Encodes two text members as the fields 1 and 2.
std::string Pair(const Value& document, std::string_view first, std::string_view second) {
  std::string out;
  AppendProtoField(out, 1, StringAt(document, first));
  AppendProtoField(out, 2, StringAt(document, second));
  return out;
}

std::string Versions(const Value& document) {
  std::string out;
  AppendTexts(out, 1, ArrayAt(document, "versions"));
  for (const Value& each : ArrayAt(document, "serverAddressByClientCIDRs")) {
    AppendProtoField(out, 2, Pair(each, "clientCIDR", "serverAddress"));
  }
  return out;
}

std::string Group(const Value& document) {
  std::string out;
  AppendProtoField(out, 1, StringAt(document, "name"));
  for (const Value& each : ArrayAt(document, "versions")) {
    AppendProtoField(out, 2, Pair(each, "groupVersion", "version"));
  }
  AppendProtoField(out, 3, Pair(*document.Find("preferredVersion"), "groupVersion", "version"));
  return out;
}

std::string GroupList(const Value& document) {
  std::string out;
  for (const Value& each : ArrayAt(document, "groups")) AppendProtoField(out, 1, Group(each));
  return out;
}

std::string Resource(const Value& document) {
  constexpr char kNamespaced = 2 << 3;
  std::string verbs;
  AppendTexts(verbs, 1, ArrayAt(document, "verbs"));
  std::string out;
  AppendProtoField(out, 1, StringAt(document, "name"));
  out += {kNamespaced, codec::BoolAt(document, "namespaced") ? '\1' : '\0'};
  AppendProtoField(out, 3, StringAt(document, "kind"));
  AppendProtoField(out, 4, verbs);
  AppendTexts(out, 5, ArrayAt(document, "shortNames"));
  AppendProtoField(out, 6, StringAt(document, "singularName"));
  AppendTexts(out, 7, ArrayAt(document, "categories"));
  AppendProtoField(out, 8, StringAt(document, "group"));
  AppendProtoField(out, 9, StringAt(document, "version"));
  AppendProtoField(out, 10, StringAt(document, "storageVersionHash"));
  return out;
}

std::string ResourceList(const Value& document) {
  std::string out;
  AppendProtoField(out, 1, StringAt(document, "groupVersion"));
  for (const Value& each : ArrayAt(document, "resources")) AppendProtoField(out, 2, Resource(each));
  return out;
}

}  // namespace

std::string DiscoveryProto(const Value& document) {
  const std::string_view kind = StringAt(document, "kind");
  return codec::WrapEnvelope(StringAt(document, "apiVersion"), kind,
                             kind == "APIVersions"    ? Versions(document)
                             : kind == "APIGroupList" ? GroupList(document)
                             : kind == "APIGroup"     ? Group(document)
                                                      : ResourceList(document));
}

}  // namespace berth::server
