#include "server/openapi_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "server/route.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using Body = OpenApiOperation::Body;
using Answer = OpenApiOperation::Answer;

constexpr auto kParameters = std::to_array<OpenApiParameter>({
    {.name = "name", .description = "Name of the object.", .in_path = true},
    {.name = "namespace", .description = "Namespace of the object or objects.", .in_path = true},
    {.name = "pretty", .description = "If true, the answer is indented."},
    {.name = "allowWatchBookmarks",
     .type = "boolean",
     .description = "For a watch: send BOOKMARK events from time to time, with the version up to "
                    "which all events have been sent."},
    {.name = "continue",
     .description =
         "Where the next part of a list begins: metadata.continue of the previous part."},
    {.name = "fieldSelector",
     .description = "Only objects with these values in their fields, such as metadata.name=web."},
    {.name = "labelSelector",
     .description = "Only objects with these labels, such as app=web,tier!=test."},
    {.name = "limit",
     .type = "integer",
     .description = "At most this many objects. Use metadata.continue to get the rest."},
    {.name = "resourceVersion",
     .description = "For a watch: begin after this version. For a read: answer with a state that "
                    "is not older; 0 means any state. The default is the newest state."},
    {.name = "resourceVersionMatch",
     .description = "How a list uses resourceVersion: NotOlderThan or Exact."},
    {.name = "sendInitialEvents",
     .type = "boolean",
     .description = "For a watch: begin with an event for each existing object, followed by a "
                    "bookmark."},
    {.name = "timeoutSeconds",
     .type = "integer",
     .description = "Timeout of a list or duration of a watch, in seconds."},
    {.name = "watch",
     .type = "boolean",
     .description = "Send changes as they happen instead of a list."},
    {.name = "gracePeriodSeconds",
     .type = "integer",
     .description = "How many seconds the object has to shut down; 0 means none."},
    {.name = "orphanDependents",
     .type = "boolean",
     .description = "Deprecated: use propagationPolicy."},
    {.name = "propagationPolicy",
     .description = "What happens to the dependents of the object: Orphan, Background or "
                    "Foreground."},
    {.name = "dryRun",
     .description = "If All, the request is checked and answered, but nothing is stored."},
    {.name = "fieldManager",
     .description = "Name of the client that makes the change, for server-side apply. Required for "
                    "an apply patch."},
    {.name = "fieldValidation",
     .description = "How to treat unknown and duplicate fields: Strict refuses them, Warn (the "
                    "default) warns about them, Ignore drops them."},
    {.name = "force",
     .type = "boolean",
     .description = "For an apply patch: take over fields that other clients manage."},
});

constexpr auto kListNames = std::to_array<std::string_view>(
    {"allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit",
     "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch"});
constexpr auto kGetNames = std::to_array<std::string_view>({"resourceVersion"});
constexpr auto kWriteNames =
    std::to_array<std::string_view>({"dryRun", "fieldManager", "fieldValidation"});
constexpr auto kPatchNames =
    std::to_array<std::string_view>({"dryRun", "fieldManager", "fieldValidation", "force"});
constexpr auto kDeleteNames = std::to_array<std::string_view>(
    {"dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"});
constexpr auto kDeleteCollectionNames = std::to_array<std::string_view>(
    {"continue", "dryRun", "fieldSelector", "gracePeriodSeconds", "labelSelector", "limit",
     "orphanDependents", "propagationPolicy", "resourceVersion", "resourceVersionMatch",
     "timeoutSeconds"});

constexpr auto kRead = std::to_array<std::string_view>({"200", "401"});
constexpr auto kCreated = std::to_array<std::string_view>({"201", "401"});
constexpr auto kWritten = std::to_array<std::string_view>({"200", "201", "401"});

/// An operation as far as it is the same for all kinds.
struct OperationOfVerb {
  std::string_view verb;
  std::string_view method;
  std::string_view action;
  std::string_view id;           // The beginning of the operation's id.
  std::string_view description;  // The beginning of its description.
  std::span<const std::string_view> parameters;
  Body body;
  Answer answer;
  std::span<const std::string_view> codes;
};

constexpr OperationOfVerb kListVerb = {
    "list",     "get",       "list",        "list", "List or watch objects of kind",
    kListNames, Body::kNone, Answer::kList, kRead};
constexpr OperationOfVerb kCreateVerb = {
    "create",    "post",        "post",          "create", "Create an object of kind",
    kWriteNames, Body::kObject, Answer::kObject, kCreated};
constexpr OperationOfVerb kDeleteCollectionVerb = {"deletecollection",
                                                   "delete",
                                                   "deletecollection",
                                                   "delete",
                                                   "Delete all selected objects of kind",
                                                   kDeleteCollectionNames,
                                                   Body::kDeleteOptions,
                                                   Answer::kStatus,
                                                   kRead};
constexpr OperationOfVerb kGetVerb = {
    "get",     "get",       "get",           "read", "Get the object of kind",
    kGetNames, Body::kNone, Answer::kObject, kRead};
constexpr OperationOfVerb kUpdateVerb = {
    "update",    "put",         "put",           "replace", "Replace the object of kind",
    kWriteNames, Body::kObject, Answer::kObject, kWritten};
constexpr OperationOfVerb kPatchVerb = {
    "patch",     "patch",      "patch",         "patch", "Change or apply the object of kind",
    kPatchNames, Body::kPatch, Answer::kObject, kWritten};
constexpr OperationOfVerb kDeleteVerb = {"delete",
                                         "delete",
                                         "delete",
                                         "delete",
                                         "Delete the object of kind",
                                         kDeleteNames,
                                         Body::kDeleteOptions,
                                         Answer::kDeleted,
                                         kRead};

std::vector<const OpenApiParameter*> Pick(std::span<const std::string_view> names) {
  std::vector<const OpenApiParameter*> picked;
  for (const OpenApiParameter& parameter : kParameters) {
    if (std::find(names.begin(), names.end(), parameter.name) != names.end()) {
      picked.push_back(&parameter);
    }
  }
  return picked;
}

/// Returns the name by which client generators know a group: "coordination" for
/// coordination.k8s.io, "core" for the core group.
std::string ShortGroup(const api::Kind& kind) {
  if (kind.group.empty()) return "core";
  constexpr std::string_view kSuffix = ".k8s.io";
  std::string_view group = kind.group;
  if (group.ends_with(kSuffix)) group.remove_suffix(kSuffix.size());
  return std::string(group);
}

void AppendCapitalized(std::string_view word, std::string& out) {
  for (size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    out.push_back(i == 0 && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
}

/// Returns a word such as "CoreV1" or "AllocationBerthIoV1alpha1".
std::string GroupVersionWord(const api::Kind& kind) {
  std::string word;
  std::string group = ShortGroup(kind);
  for (std::string_view rest = group; !rest.empty();) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    AppendCapitalized(rest.substr(0, dot), word);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  AppendCapitalized(kind.version, word);
  return word;
}

struct Path {
  std::string path;  // "/api/v1/namespaces/{namespace}/services/{name}"
  std::vector<const OpenApiParameter*> parameters;
  std::vector<OpenApiOperation> operations;
};

/// Builds the paths of one kind.
class PathBuilder {
 public:
  explicit PathBuilder(const api::Kind& kind)
      : kind_(kind),
        root_((kind.group.empty() ? "/api/" : "/apis/") + std::string(kind.api_version)),
        scope_(kind.namespaced ? "/namespaces/{namespace}" : "") {}

  std::vector<Path> Build() && {
    if (kind_.namespaced) {
      Add(fmt::format("{}/{}", root_, kind_.plural), "", "ForAllNamespaces", {&kListVerb});
    }
    const std::string collection = fmt::format("{}{}/{}", root_, scope_, kind_.plural);
    const std::string_view namespaced = kind_.namespaced ? "Namespaced" : "";
    Add(collection, namespaced, "", {&kListVerb, &kCreateVerb, &kDeleteCollectionVerb});
    const std::string item = collection + "/{name}";
    Add(item, namespaced, "", {&kGetVerb, &kUpdateVerb, &kPatchVerb, &kDeleteVerb});
    // The verbs of subresources are those of discovery.
    if (kind_.has_finalize) Add(item + "/finalize", namespaced, "Finalize", {&kUpdateVerb});
    if (kind_.has_status) {
      Add(item + "/status", namespaced, "Status", {&kGetVerb, &kUpdateVerb, &kPatchVerb});
    }
    return std::move(paths_);
  }

 private:
  void Add(std::string path, std::string_view before, std::string_view after,
           std::initializer_list<const OperationOfVerb*> verbs) {
    Path item{.path = std::move(path), .parameters = {}, .operations = {}};
    for (const OpenApiParameter& parameter : kParameters) {
      const bool in_path = item.path.find(fmt::format("{{{}}}", parameter.name)) != item.path.npos;
      if ((parameter.in_path && in_path) || parameter.name == "pretty") {
        item.parameters.push_back(&parameter);
      }
    }
    for (const OperationOfVerb* verb : verbs) {
      if (HasVerb(kind_, verb->verb)) item.operations.push_back(Make(*verb, before, after));
    }
    if (!item.operations.empty()) paths_.push_back(std::move(item));
  }

  OpenApiOperation Make(const OperationOfVerb& verb, std::string_view before,
                        std::string_view after) const {
    const std::string_view collection = verb.verb == "deletecollection" ? "Collection" : "";
    const std::string_view part = after == "Status"     ? ", its status only"
                                  : after == "Finalize" ? ", its finalizers only"
                                                        : "";
    return {.method = verb.method,
            .action = verb.action,
            .id = fmt::format("{}{}{}{}{}{}", verb.id, GroupVersionWord(kind_), collection, before,
                              kind_.kind, after),
            .description = fmt::format("{} {}{}.", verb.description, kind_.kind, part),
            .parameters = Pick(verb.parameters),
            .body = verb.body,
            .answer = verb.answer,
            .codes = verb.codes};
  }

  const api::Kind& kind_;
  std::string root_;
  std::string scope_;
  std::vector<Path> paths_;
};

Object ParameterObject(const OpenApiParameter& parameter, OpenApiVersion version) {
  Object object{{"name", parameter.name},
                {"in", parameter.in_path ? "path" : "query"},
                {"description", parameter.description}};
  if (parameter.in_path) object.Set("required", true);
  if (version == OpenApiVersion::kV2) {
    object.Set("type", parameter.type);
  } else {
    object.Set("schema", Object{{"type", parameter.type}});
  }
  return object;
}

Array ParameterRefs(const std::vector<const OpenApiParameter*>& parameters,
                    OpenApiVersion version) {
  const std::string_view at =
      version == OpenApiVersion::kV2 ? "#/parameters/" : "#/components/parameters/";
  Array refs;
  for (const OpenApiParameter* parameter : parameters) {
    refs.emplace_back(Object{{"$ref", fmt::format("{}{}", at, parameter->name)}});
  }
  return refs;
}

}  // namespace

Object OpenApiInfo() {
  // Not the version of the program, so that equal documents have equal hashes.
  return {{"title", "Berth"}, {"version", "unversioned"}};
}

Object OpenApiPaths(std::span<const api::Kind* const> kinds, OpenApiVersion version,
                    WriteOperation write) {
  Object paths;
  for (const api::Kind* kind : kinds) {
    for (const Path& path : PathBuilder(*kind).Build()) {
      Object item{{"parameters", ParameterRefs(path.parameters, version)}};
      for (const OpenApiOperation& operation : path.operations) {
        item.Set(std::string(operation.method), write(*kind, operation));
      }
      paths.Set(path.path, std::move(item));
    }
  }
  return paths;
}

Object OpenApiParameters(OpenApiVersion version) {
  Object all;
  for (const OpenApiParameter& parameter : kParameters) {
    all.Set(std::string(parameter.name), ParameterObject(parameter, version));
  }
  return all;
}

Array ParametersOf(const OpenApiOperation& operation, OpenApiVersion version) {
  // References make a document much smaller. But kubectl looks for dryRun and fieldValidation in
  // each PATCH, and does not follow references there.
  if (operation.body != Body::kPatch) return ParameterRefs(operation.parameters, version);
  Array array;
  for (const OpenApiParameter* parameter : operation.parameters) {
    array.emplace_back(ParameterObject(*parameter, version));
  }
  return array;
}

std::string OpenApiTag(const api::Kind& kind) {
  std::string tag = fmt::format("{}_{}", ShortGroup(kind), kind.version);
  std::replace(tag.begin(), tag.end(), '.', '_');
  return tag;
}

std::string_view CodeDescription(std::string_view code) {
  if (code == "200") return "OK";
  if (code == "201") return "Created";
  return "Unauthorized";
}

std::span<const std::string_view> PatchMediaTypes() {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"application/json-patch+json", "application/merge-patch+json",
       "application/strategic-merge-patch+json", "application/apply-patch+yaml"});
  return kTypes;
}

std::span<const std::string_view> AnswerMediaTypes() {
  static constexpr auto kTypes =
      std::to_array<std::string_view>({"application/json", "application/yaml"});
  return kTypes;
}

}  // namespace berth::server
