#include "audit/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::audit {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kKindNames = {
    "TwoOwners",    "NoRecord",          "Orphan",     "WrongUid",     "WrongOwner",
    "WrongFamily",  "WrongPurpose",      "OutOfRange", "Unusable",     "LostReservation",
    "UnknownRange", "RangeWithoutValue", "WrongCount", "TwoPrimaries", "Undecodable"};

struct KindWord {
  std::string_view resource;
  std::string_view word;
};
constexpr std::array<KindWord, 7> kKindWords = {{{"services", "Service"},
                                                 {"ipaddresses", "IPAddress"},
                                                 {"nodeports", "NodePort"},
                                                 {"ipranges", "IPRange"},
                                                 {"nodeportranges", "NodePortRange"},
                                                 {"servicecidrs", "ServiceCIDR"},
                                                 {"rangeallocations", "bitmap"}}};

}  // namespace

std::string_view NameOf(FindingKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string TextOf(const ObjectRef& object) {
  std::string_view word = object.resource;
  for (const KindWord& each : kKindWords) {
    if (each.resource == object.resource) word = each.word;
  }
  return object.name_space.empty() ? fmt::format("{} {}", word, object.name)
                                   : fmt::format("{} {}/{}", word, object.name_space, object.name);
}

bool Report::IsClean() const {
  return std::ranges::all_of(counts, [](uint64_t count) { return count == 0; });
}

}  // namespace berth::audit
