// Notes a small number, the slot, in a stored value: an engine that cannot number events one by one
// keeps an event's place among those of its transaction there (store/slot.h). It goes where every
// reader overwrites what it finds, into metadata.resourceVersion:
//
//   Kubernetes protobuf  "k8s\0", runtime.Unknown, its field 2, in that field 1, in that field 6
//   JSON                 {"metadata": {"resourceVersion": "..."}}
//
// as decimal text. All other bytes and their order stay as they are, but for the lengths of what
// encloses it. Where the field is missing it is added: in protobuf in ascending order of fields, in
// JSON at the beginning of its object. Of a field given twice protobuf's last and JSON's first is
// meant; readers of either see the others unchanged.
//
// Keys that hold no API objects have a slot of their own and their values stay untouched:
//
//   2047  /registry/berth.io/mode                    2039  /registry/ranges/serviceips
//   2046  /registry/berth.io/fence/ipv4              2038  /registry/ranges/secondaryserviceips
//   2045  /registry/berth.io/fence/ipv6              2037  /registry/ranges/servicenodeports
//   2044  /registry/berth.io/fence/nodeports         2036  /registry/berth.io/compact
//   2040  /registry/berth.io/fence/ and all others   2035  /registry/berth.io/tick
//   2032  all others of /registry/berth.io/          2034  /registry/berth.io/fence/process/
//                                                    2033  /registry/berth.io/replicas/
//
// (2041 to 2043 are kept for fences to come.) A transaction can hold one of each slot only.
//
// Any other value that is neither form is left alone and has slot 0: two of them in a transaction
// cannot be told apart. Pure functions, safe from any thread; any bytes may be given.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// The highest slot of an API object.
inline constexpr int kMaxObjectSlot = 2000;

/// The slot of a key that holds no API object.
std::optional<int> FixedSlot(std::string_view key);

/// Notes `slot` (0 to kMaxObjectSlot) and returns it; or returns the key's own slot, or 0, and
/// leaves the value alone.
int WriteSlot(std::string_view key, std::string& value, int slot);

/// What WriteSlot returned for this key and value; 0 when nothing readable is noted.
int ReadSlot(std::string_view key, std::string_view value);

/// Leaves the field empty, as Kubernetes stores it: two values that differ only in their slot are
/// the same after it.
void ClearSlot(std::string_view key, std::string& value);

}  // namespace berth::codec
