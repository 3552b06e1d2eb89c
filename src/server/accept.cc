#include "server/accept.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "http/head.h"

namespace berth::server {
namespace {

constexpr std::string_view kMediaTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kTextMediaTypes = "application/json, application/yaml";
/// More clauses than any client sends. The rest is ignored.
constexpr size_t kMaxClauses = 64;

struct Clause {
  std::string_view type;  // "application/json"
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
  double quality = 1;

  std::string_view Parameter(std::string_view name) const {
    for (const auto& [key, value] : parameters) {
      if (key == name) return value;
    }
    return {};
  }
  /// Returns whether the clause asks for a Table or for metadata instead of objects.
  bool Transforms() const {
    return !Parameter("as").empty() || !Parameter("g").empty() || !Parameter("v").empty();
  }
  bool AnyType() const { return type.starts_with('*'); }
  bool AnySubtype() const { return type.ends_with('*'); }
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Returns the part before `separator`, and removes both from `text`.
std::string_view Cut(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = Trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// Returns 0 for a quality that cannot be parsed, which makes it the last choice, as in Kubernetes.
double Quality(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// Compares clauses as Kubernetes does: a more specific type comes first even with a lower quality.
/// This is not a strict weak ordering, so std::sort cannot use it.
bool ComesBefore(const Clause& a, const Clause& b) {
  return a.quality > b.quality || (!a.AnyType() && b.AnyType()) ||
         (!a.AnySubtype() && b.AnySubtype());
}

/// An insertion sort, as in Kubernetes. With such a comparison another algorithm would give another
/// order.
void Sort(std::vector<Clause>& clauses) {
  for (size_t i = 1; i < clauses.size(); ++i) {
    for (size_t j = i; j > 0 && ComesBefore(clauses[j], clauses[j - 1]); --j) {
      std::swap(clauses[j], clauses[j - 1]);
    }
  }
}

std::vector<Clause> Clauses(std::string_view accept) {
  std::vector<Clause> clauses;
  while (!accept.empty() && clauses.size() < kMaxClauses) {
    std::string_view text = Cut(accept, ',');
    Clause clause{.type = Cut(text, ';'), .parameters = {}};
    while (!text.empty()) {
      std::string_view parameter = Cut(text, ';');
      const std::string_view name = Cut(parameter, '=');
      if (name == "q") {
        clause.quality = Quality(Trim(parameter));
      } else {
        clause.parameters.emplace_back(name, Trim(parameter));
      }
    }
    if (!clause.type.empty()) clauses.push_back(std::move(clause));
  }
  Sort(clauses);
  return clauses;
}

constexpr std::pair<std::string_view, Media> kNames[] = {
    {kJsonType, Media::kJson},
    {"application/yaml", Media::kYaml},
    {"application/vnd.kubernetes.protobuf", Media::kProtobuf}};

/// Returns whether the type is one of ours, by its name alone. This is the first stage.
bool IsOurs(std::string_view type) {
  return type == "*/*" || std::any_of(std::begin(kNames), std::end(kNames),
                                      [&](const auto& name) { return name.first == type; });
}

/// A wildcard means the type that is offered first, JSON.
std::optional<Media> MediaOf(std::string_view type) {
  if (type == "*/*" || type == "application/*") return Media::kJson;
  for (const auto& [name, media] : kNames) {
    if (name == type) return media;
  }
  return std::nullopt;
}

/// Returns nullopt if there is no such transform.
std::optional<Transform> TransformOf(const Clause& clause, Media media, const Offer& offer) {
  const std::string_view version = clause.Parameter("v");
  if (clause.Parameter("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1") ||
      !offer.tables) {
    return std::nullopt;
  }
  const std::string_view as = clause.Parameter("as");
  if (as == "Table" && media != Media::kProtobuf) return Transform::kTable;
  if (as == "PartialObjectMetadata") return Transform::kPartial;
  if (as == "PartialObjectMetadataList") return Transform::kPartialList;
  return std::nullopt;
}

/// Returns nullopt if the clause asks for a format that is not served.
std::optional<Accepted> TakeClause(const Clause& clause, const Offer& offer) {
  const auto media = MediaOf(clause.type);
  if (!media) return std::nullopt;
  Accepted accepted{.media = *media};
  if (clause.Transforms()) {
    const auto transform = TransformOf(clause, *media, offer);
    if (!transform) return std::nullopt;
    accepted.transform = *transform;
    accepted.transform_version = clause.Parameter("v") == "v1" ? "v1" : "v1beta1";
  } else if (*media == Media::kProtobuf && !offer.protobuf) {
    return std::nullopt;
  }
  // A stream of YAML could not be split into events.
  const std::string_view stream = clause.Parameter("stream");
  if (!stream.empty() && (stream != "watch" || *media == Media::kYaml)) return std::nullopt;
  accepted.pretty = clause.Parameter("pretty") == "1" || clause.Parameter("pretty") == "true";
  return accepted;
}

std::optional<Accepted> TakeFirst(const std::vector<Clause>& clauses, const Offer& offer) {
  if (clauses.empty()) return Accepted{};
  for (const Clause& clause : clauses) {
    if (auto accepted = TakeClause(clause, offer)) return accepted;
  }
  return std::nullopt;
}

}  // namespace

base::Result<Accepted> Negotiate(std::string_view accept, const Offer& offer) {
  const std::vector<Clause> clauses = Clauses(accept);
  if (!clauses.empty() && std::none_of(clauses.begin(), clauses.end(),
                                       [](const Clause& clause) { return IsOurs(clause.type); })) {
    return tl::unexpected(base::Error{
        .reason = base::Reason::kNotAcceptable,
        .message = "406: Not Acceptable\n\nAvailable representations: " + std::string(kMediaTypes),
        .details = base::Details{}});
  }
  if (auto accepted = TakeFirst(clauses, offer)) return *accepted;
  return base::Fail(base::Reason::kNotAcceptable,
                    "only the following media types are accepted: " + std::string(kMediaTypes));
}

std::optional<Accepted> NegotiatePlain(std::string_view accept) {
  return TakeFirst(Clauses(accept), {.protobuf = true, .tables = false});
}

base::Result<Media> BodyMedia(std::string_view content_type, const Offer& offer) {
  const std::string_view type = Cut(content_type, ';');
  if (type.empty()) return Media::kJson;
  for (const auto& [name, media] : kNames) {
    const bool readable = offer.protobuf || media != Media::kProtobuf;
    if (readable && http::EqualsLower(type, name)) return media;
  }
  return base::Fail(base::Reason::kUnsupportedMediaType,
                    "the body of the request was in an unknown format - accepted media types "
                    "include: " +
                        std::string(offer.protobuf ? kMediaTypes : kTextMediaTypes));
}

std::string_view MediaName(Media media) {
  for (const auto& [name, value] : kNames) {
    if (value == media) return name;
  }
  return kNames[0].first;
}

bool WantsAggregatedDiscovery(std::string_view accept) {
  for (const Clause& clause : Clauses(accept)) {
    const auto media = MediaOf(clause.type);
    if (media && !clause.Transforms()) return false;
    if (media == Media::kJson && clause.Parameter("as") == "APIGroupDiscoveryList" &&
        clause.Parameter("g") == "apidiscovery.k8s.io" && clause.Parameter("v") == "v2") {
      return true;
    }
  }
  return false;
}

}  // namespace berth::server
