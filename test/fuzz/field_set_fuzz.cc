// A set that is parsed from fieldsV1 text has one written form, is equal after a round trip, and
// obeys the laws of sets.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "merge/field_set.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The input is two texts, one after the other.
  const size_t middle = text.find('\n');
  const auto a = merge::ReadFieldsV1(text.substr(0, middle));
  const auto b =
      merge::ReadFieldsV1(middle == std::string_view::npos ? "{}" : text.substr(middle + 1));
  if (!a || !b) {
    fuzz::Require(a || !a.error().message.empty());
    fuzz::Require(b || !b.error().message.empty());
    return 0;
  }
  const std::string written = merge::WriteFieldsV1(*a);
  const auto again = merge::ReadFieldsV1(written);
  fuzz::Require(again.has_value() && *again == *a);
  fuzz::Require(merge::WriteFieldsV1(*again) == written);

  const merge::FieldSet both = a->Intersection(*b);
  const merge::FieldSet only_a = a->Difference(*b);
  const merge::FieldSet all = a->Union(*b);
  fuzz::Require(both == b->Intersection(*a));
  fuzz::Require(all == b->Union(*a));
  fuzz::Require(only_a.Union(both) == *a);
  const merge::FieldIndex index(*b);
  fuzz::Require(index.Inside(*a) == both && index.Outside(*a) == only_a);
  fuzz::Require(!index.Intersects(only_a) && index.Intersects(*a) == !both.Empty());
  fuzz::Require(all.Size() == a->Size() + b->Size() - both.Size());
  fuzz::Require(a->RecursiveDifference(*b).Difference(only_a).Empty());
  size_t members = 0;
  a->ForEach([&](std::span<const merge::PathElement> path) {
    ++members;
    fuzz::Require(!merge::PathText(path).empty() && all.Contains(path));
  });
  fuzz::Require(members == a->Size());
  return 0;
}
