// An accepted label selector must have a text that means the same. A refusal must have a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "rules/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::rules::LabelSelector;
  const auto selector =
      LabelSelector::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!selector.has_value()) {
    fuzz::Require(selector.error().reason == berth::base::Reason::kBadRequest);
    fuzz::Require(!selector.error().message.empty());
    return 0;
  }
  const auto again = LabelSelector::Parse(selector->ToString());
  fuzz::Require(again.has_value() && *again == *selector);
  const berth::codec::Value object = berth::codec::Object{
      {"metadata", berth::codec::Object{{"labels", berth::codec::Object{{"a", "1"}}}}}};
  fuzz::Require(again->Matches(object) == selector->Matches(object));
  return 0;
}
