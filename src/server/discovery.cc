#include "server/discovery.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "codec/json.h"
#include "codec/value.h"
#include "server/accept.h"
#include "server/discovery_proto.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

constexpr const char* kAggregatedJson =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

std::string Sha512Hex(std::string_view text) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02X}", byte);
  return hex;
}

/// Returns the beginning of the hash of "group/version/Kind". Clients compare it to learn that a
/// resource is stored in another version.
std::string StorageVersionHash(const api::Kind& kind) {
  const std::string text = fmt::format("{}/{}/{}", kind.group, kind.version, kind.kind);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i) bits = bits << 8 | digest[i];
  std::string out;
  for (int shift = 58; shift >= 0; shift -= 6) out.push_back(kAlphabet[bits >> shift & 63]);
  out.push_back(kAlphabet[bits << 2 & 63]);
  return out + "=";
}

Array TextArray(std::span<const std::string_view> texts) {
  Array array;
  for (const std::string_view text : texts) array.emplace_back(text);
  return array;
}

struct Subresource {
  const char* name;
  std::vector<std::string_view> verbs;
  std::string kind;
};

std::vector<Subresource> SubresourcesOf(const api::Kind& kind) {
  std::vector<Subresource> subresources;
  const std::string own(kind.kind);
  if (kind.has_finalize) subresources.push_back({"finalize", {"update"}, own});
  if (kind.has_proxy) {
    subresources.push_back(
        {"proxy", {"create", "delete", "get", "patch", "update"}, own + "ProxyOptions"});
  }
  if (kind.has_status) subresources.push_back({"status", {"get", "patch", "update"}, own});
  return subresources;
}

Value ResourceEntry(const api::Kind& kind) {
  Object entry{{"name", kind.plural},
               {"singularName", kind.singular},
               {"namespaced", kind.namespaced},
               {"kind", kind.kind},
               {"verbs", TextArray(kind.verbs)}};
  if (!kind.short_names.empty()) entry.Set("shortNames", TextArray(kind.short_names));
  if (!kind.categories.empty()) entry.Set("categories", TextArray(kind.categories));
  entry.Set("storageVersionHash", StorageVersionHash(kind));
  return entry;
}

Value ResourceList(const std::string& group_version, bool core,
                   const std::vector<const api::Kind*>& kinds) {
  Object list{{"kind", "APIResourceList"}};
  if (!core) list.Set("apiVersion", "v1");
  list.Set("groupVersion", group_version);
  Array resources;
  for (const api::Kind* kind : kinds) {
    resources.push_back(ResourceEntry(*kind));
    for (const Subresource& sub : SubresourcesOf(*kind)) {
      resources.emplace_back(Object{{"name", fmt::format("{}/{}", kind->plural, sub.name)},
                                    {"singularName", ""},
                                    {"namespaced", kind->namespaced},
                                    {"kind", sub.kind},
                                    {"verbs", TextArray(sub.verbs)}});
    }
  }
  list.Set("resources", std::move(resources));
  return list;
}

Object ResponseKind(std::string_view kind) {
  return {{"group", ""}, {"version", ""}, {"kind", kind}};
}

Value AggregatedResource(const api::Kind& kind) {
  Object entry{{"resource", kind.plural},
               {"responseKind", ResponseKind(kind.kind)},
               {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
               {"singularResource", kind.singular},
               {"verbs", TextArray(kind.verbs)}};
  if (!kind.short_names.empty()) entry.Set("shortNames", TextArray(kind.short_names));
  if (!kind.categories.empty()) entry.Set("categories", TextArray(kind.categories));
  Array subresources;
  for (const Subresource& sub : SubresourcesOf(kind)) {
    subresources.emplace_back(Object{{"subresource", sub.name},
                                     {"responseKind", ResponseKind(sub.kind)},
                                     {"verbs", TextArray(sub.verbs)}});
  }
  if (!subresources.empty()) entry.Set("subresources", std::move(subresources));
  return entry;
}

/// Returns one version of a group, with its resources.
Value AggregatedGroup(const std::string& group, const std::vector<const api::Kind*>& kinds) {
  Object metadata;
  if (!group.empty()) metadata.Set("name", group);
  Array resources;
  for (const api::Kind* kind : kinds) resources.push_back(AggregatedResource(*kind));
  const Object version{{"version", kinds.front()->version},
                       {"resources", std::move(resources)},
                       {"freshness", "Current"}};
  return Object{{"metadata", std::move(metadata)}, {"versions", Array{version}}};
}

std::string AggregatedList(Array groups) {
  return codec::WriteJson(Object{{"kind", "APIGroupDiscoveryList"},
                                 {"apiVersion", "apidiscovery.k8s.io/v2"},
                                 {"metadata", Object()},
                                 {"items", std::move(groups)}}) +
         "\n";
}

/// {"groupVersion": "networking.k8s.io/v1", "version": "v1"}
Object GroupVersion(const api::Kind& kind) {
  return {{"groupVersion", kind.api_version}, {"version", kind.version}};
}

Object GroupEntry(const std::string& group, const api::Kind& kind) {
  return {{"name", group},
          {"versions", Array{GroupVersion(kind)}},
          {"preferredVersion", GroupVersion(kind)}};
}

}  // namespace

Document MakeDocument(std::string body, std::string content_type, bool with_etag) {
  Document document;
  if (with_etag) document.etag = "\"" + Sha512Hex(body) + "\"";
  document.body = std::make_shared<const std::string>(std::move(body));
  document.content_type = std::move(content_type);
  return document;
}

Discovery::Discovery(std::span<const api::Kind* const> kinds) {
  // Groups are in the order of the kinds, with the core group first; resources are sorted by name.
  std::vector<std::pair<std::string, std::vector<const api::Kind*>>> groups;
  for (const api::Kind* kind : kinds) {
    const std::string name(kind->group);
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->second.push_back(kind);
  }
  Array entries;
  Array aggregated;
  for (auto& [group, of_group] : groups) {
    std::sort(of_group.begin(), of_group.end(),
              [](const api::Kind* a, const api::Kind* b) { return a->plural < b->plural; });
    AddGroup(group, of_group);
    if (group.empty()) continue;
    entries.emplace_back(GroupEntry(group, *of_group.front()));
    aggregated.push_back(AggregatedGroup(group, of_group));
  }
  const Object versions{{"kind", "APIVersions"},
                        {"versions", Array{"v1"}},
                        {"serverAddressByClientCIDRs",
                         Array{Object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", ""}}}}};
  Add("/api", versions);
  Add("/apis",
      Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(entries)}});
  aggregated_["/apis"] = MakeDocument(AggregatedList(std::move(aggregated)), kAggregatedJson, true);
}

void Discovery::AddGroup(const std::string& group, const std::vector<const api::Kind*>& kinds) {
  const std::string version(kinds.front()->api_version);
  const std::string path = (group.empty() ? "/api/" : "/apis/") + version;
  Add(path, ResourceList(version, group.empty(), kinds));
  if (group.empty()) {
    aggregated_["/api"] =
        MakeDocument(AggregatedList(Array{AggregatedGroup(group, kinds)}), kAggregatedJson, true);
    return;
  }
  Object document{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
  const Object entry = GroupEntry(group, *kinds.front());
  for (const codec::Member& member : entry) document.Set(member.key, member.value);
  Add("/apis/" + group, document);
}

void Discovery::Add(const std::string& path, const Value& document) {
  documents_[path] = MakeDocument(codec::WriteJson(document) + "\n", kJsonType, false);
  protobuf_[path] =
      MakeDocument(DiscoveryProto(document), std::string(MediaName(Media::kProtobuf)), false);
}

const Document* Discovery::Find(std::string_view path, std::string_view accept) const {
  if (WantsAggregatedDiscovery(accept)) {
    const auto found = aggregated_.find(path);
    if (found != aggregated_.end()) return &found->second;
  }
  const auto plain = NegotiatePlain(accept);
  const auto& documents = plain && plain->media == Media::kProtobuf ? protobuf_ : documents_;
  const auto found = documents.find(path);
  return found == documents.end() ? nullptr : &found->second;
}

std::string PathsDocument(std::span<const std::string> paths) {
  Array list;
  for (const std::string& path : paths) list.emplace_back(path);
  return codec::WriteJson(Object{{"paths", std::move(list)}}, {.indent = 2}) + "\n";
}

}  // namespace berth::server
