// Notes a small number, the slot, in a stored value. An engine that cannot number events one by one
// stores there the position of an event among those of its transaction (store/event_slot.h). The
// slot is in metadata.resourceVersion, which every reader overwrites anyway:
//
//   Kubernetes protobuf  "k8s\0", runtime.Unknown, its field 2, in that field 1, in that field 6
//   JSON                 {"metadata": {"resourceVersion": "..."}}
//
// as decimal text. All other bytes and their order stay unchanged, except for the lengths of the
// enclosing messages. If the field is missing, it is added: in protobuf in ascending order of
// fields, in JSON at the beginning of its object. Of duplicate fields, the last one is meant in
// protobuf and the first one in JSON. The others stay as they are.
//
// Keys that hold no API objects have fixed slots, and their values stay unchanged:
//
//   2047  /registry/berth.io/mode                    2039  /registry/ranges/serviceips
//   2046  /registry/berth.io/fence/ipv4              2038  /registry/ranges/secondaryserviceips
//   2045  /registry/berth.io/fence/ipv6              2037  /registry/ranges/servicenodeports
//   2044  /registry/berth.io/fence/nodeports         2036  /registry/berth.io/compact
//   2040  /registry/berth.io/fence/ and all others   2035  /registry/berth.io/tick
//   2032  all others of /registry/berth.io/          2034  /registry/berth.io/fence/process/
//                                                    2033  /registry/berth.io/replicas/
//
// (2041 to 2043 are reserved for future fences.) A transaction can contain each slot only once.
//
// Any other value of neither form is left unchanged and has slot 0. Two of them in a transaction
// cannot be told apart. Pure functions, safe from any thread, for any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// The highest slot of an API object.
inline constexpr int kMaxObjectSlot = 2000;

/// Returns the slot of a key that holds no API object, or nullopt for all other keys.
std::optional<int> FixedSlot(std::string_view key);

/// Notes `slot` (0 to kMaxObjectSlot) and returns it. If the key has a fixed slot or the value is
/// of neither form, leaves the value unchanged and returns the fixed slot or 0.
int WriteSlot(std::string_view key, std::string& value, int slot);

/// Returns what WriteSlot returned for this key and value, or 0 if no readable slot is noted.
int ReadSlot(std::string_view key, std::string_view value);

/// Empties the field, as Kubernetes stores it. Two values that differ only in
/// their slot are equal afterwards.
void ClearSlot(std::string_view key, std::string& value);

/// Returns whether `stored` is what was sent. Engines note a slot in a stored
/// value, and change nothing else.
bool SameApartFromSlot(std::string_view key, std::string_view sent, std::string_view stored);

}  // namespace berth::codec
