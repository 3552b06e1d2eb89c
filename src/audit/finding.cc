#include "audit/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::audit {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kKindNames = {
    "TwoOwners",    "NoRecord",          "Orphan",     "WrongUid",     "WrongOwner",
    "WrongFamily",  "WrongPurpose",      "OutOfRange", "Unusable",     "LostReservation",
    "UnknownRange", "RangeWithoutValue", "WrongCount", "TwoPrimaries", "Undecodable"};

constexpr std::array<std::string_view, kFindingKinds> kMeanings = {
    "two Services have the same address or port",
    "a Service has a value that is not recorded",
    "a value is recorded as taken, but no Service has it",
    "a record was made for an earlier Service of the same name",
    "a record names another Service than the one that has the value",
    "a record says the wrong IP family",
    "a record says that a port is used in another way",
    "a Service has a value that is in no range",
    "a Service has the network or broadcast address of a range",
    "a reservation that no Service can use",
    "a record refers to a range that does not exist",
    "a record refers to a range that does not contain its value",
    "the status of a range has wrong counts",
    "more than one range is primary",
    "a stored value cannot be decoded"};

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

std::string_view MeaningOf(FindingKind kind) { return kMeanings[static_cast<size_t>(kind)]; }

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
