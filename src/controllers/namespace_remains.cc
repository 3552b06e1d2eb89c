#include "controllers/namespace_remains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::controllers {
namespace {

using codec::Value;

struct Condition {
  std::string_view type;
  bool bad = false;
  std::string reason;
  std::string message;
};

std::string Sentence(std::string_view begin, const std::map<std::string, size_t>& counts,
                     std::string_view verb) {
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [name, count] : counts) {
    parts.push_back(fmt::format("{} {} {} resource instances", name, verb, count));
  }
  return fmt::format("{}: {}", begin, fmt::join(parts, ", "));
}

std::vector<Condition> ConditionsOf(const Remains& remains) {
  std::vector<Condition> out = {
      {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
       "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", false, "ContentDeleted",
       "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"},
      {"NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
       "All content-preserving finalizers finished"}};
  const auto make_bad = [&out](size_t place, std::string reason, std::string message) {
    out[place].bad = true;
    out[place].reason = std::move(reason);
    out[place].message = std::move(message);
  };
  if (!remains.failures.empty()) {
    std::vector<std::string> failures = remains.failures;
    std::ranges::sort(failures);
    make_bad(2, "ContentDeletionFailed",
             fmt::format("Failed to delete all resource types, {} remaining: {}", failures.size(),
                         fmt::join(failures, ", ")));
  }
  if (!remains.resources.empty()) {
    make_bad(3, "SomeResourcesRemain",
             Sentence("Some resources are remaining", remains.resources, "has"));
  }
  if (!remains.finalizers.empty()) {
    make_bad(4, "SomeFinalizersRemain",
             Sentence("Some content in the namespace has finalizers remaining", remains.finalizers,
                      "in"));
  }
  return out;
}

bool IsOurs(const Value& finalizer) { return codec::Text(&finalizer) == kNamespaceFinalizer; }

}  // namespace

void SetConditions(Value& name_space, const Remains& remains, base::WallTime now) {
  codec::Array conditions = codec::ArrayAt(name_space, "status", "conditions");
  for (const Condition& wanted : ConditionsOf(remains)) {
    const std::string_view status = wanted.bad ? "True" : "False";
    auto found = std::ranges::find_if(conditions, [&wanted](const Value& each) {
      return codec::StringAt(each, "type") == wanted.type;
    });
    if (found == conditions.end()) {
      found = conditions.insert(found, codec::Object{{"type", wanted.type}});
    }
    if (codec::StringAt(*found, "status") != status) {
      codec::SetAt(*found, {"status"}, status);
      codec::SetAt(*found, {"lastTransitionTime"}, codec::FormatTime(now));
    }
    codec::SetAt(*found, {"reason"}, wanted.reason);
    codec::SetAt(*found, {"message"}, wanted.message);
  }
  codec::SetAt(name_space, {"status", "conditions"}, std::move(conditions));
  codec::SetAt(name_space, {"status", "phase"}, "Terminating");
}

std::string Describe(const Remains& remains) {
  std::vector<std::string> bad;
  for (Condition& condition : ConditionsOf(remains)) {
    if (condition.bad) bad.push_back(std::move(condition.message));
  }
  return fmt::format("{}", fmt::join(bad, "; "));
}

bool HasNamespaceFinalizer(const Value& name_space) {
  return std::ranges::any_of(codec::ArrayAt(name_space, "spec", "finalizers"), IsOurs);
}

void DropNamespaceFinalizer(Value& name_space) {
  codec::Array finalizers = codec::ArrayAt(name_space, "spec", "finalizers");
  std::erase_if(finalizers, IsOurs);
  if (finalizers.empty()) {
    codec::EraseAt(name_space, {"spec", "finalizers"});
  } else {
    codec::SetAt(name_space, {"spec", "finalizers"}, std::move(finalizers));
  }
}

bool HasOtherFinalizers(const Value& name_space) {
  return !codec::ArrayAt(name_space, "metadata", "finalizers").empty() ||
         !std::ranges::all_of(codec::ArrayAt(name_space, "spec", "finalizers"), IsOurs);
}

}  // namespace berth::controllers
