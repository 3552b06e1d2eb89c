// An accepted field selector must have a text that means the same. A refusal must have a reason.
// The first byte selects the kind.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "rules/field_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::rules::FieldSelector;
  constexpr std::array<std::string_view, 5> kKinds = {
      "Service", "Namespace", "Event", "Event.events.k8s.io", "IPAddress.allocation.berth.io"};
  if (size == 0) return 0;
  const std::string_view kind = kKinds[data[0] % kKinds.size()];
  const auto selector = FieldSelector::Parse(
      std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), kind);
  if (!selector.has_value()) {
    fuzz::Require(selector.error().reason == berth::base::Reason::kBadRequest);
    fuzz::Require(!selector.error().message.empty());
    return 0;
  }
  // The fields of views are translated to the stored form.
  const std::string_view stored = kind == "Event.events.k8s.io"             ? "Event"
                                  : kind == "IPAddress.allocation.berth.io" ? "IPAddress"
                                                                            : kind;
  const auto again = FieldSelector::Parse(selector->ToString(), stored);
  fuzz::Require(again.has_value());
  fuzz::Require(again->requirements().size() == selector->requirements().size());
  const berth::codec::Value object =
      berth::codec::Object{{"metadata", berth::codec::Object{{"name", "a"}}}};
  fuzz::Require(again->Matches(object) == selector->Matches(object));
  return 0;
}
