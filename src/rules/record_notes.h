// Notes that the server keeps about an address, beyond what Kubernetes' IPAddress has room for: its
// state, how it was chosen, its range, the uid of the Service that has it, and the Service that it
// is reserved for. Notes are stored with the object as annotations that clients neither see nor
// set. In the in-memory snapshot they are one text, the *hidden* text of the object. It is short
// for the most common records (`static` or `dynamic` for an address that a Service has, and 17
// bytes for the uid), its beginning tells the state, and it loses nothing.
//
// Pure. Every function accepts any text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/value.h"

namespace berth::rules {

/// Prefix of the annotations that are stored with an object and that clients neither see nor set.
inline constexpr std::string_view kInternalPrefix = "internal.allocation.berth.io/";

/// A range in the notes is the name of an IPRange. With this prefix it is the name of a ServiceCIDR
/// whose CIDR no IPRange has.
inline constexpr std::string_view kServiceCidrNote = "servicecidrs/";

/// A note that stands for no range at all. No object can have this name.
inline constexpr std::string_view kNoRange = "-";

enum class RecordState : uint8_t {
  /// A Service has it.
  kAllocated,
  /// No Service may take it, or only one. A record without notes is in this state, because a client
  /// created it through networking.k8s.io, unless a kube-apiserver created it.
  kReserved,
  /// Held for one Service, for a limited time.
  kPending,
  /// Released recently. Picks avoid it for a while.
  kFree,
};
/// Returns "Allocated" and so on.
std::string_view StateText(RecordState state);
/// Returns the state that a text names. An unknown one counts as reserved, so that no client gets
/// the value.
RecordState StateOfText(std::string_view text);

enum class ChosenBy : uint8_t { kOwner, kAllocator };  // Static and dynamic.

struct RecordNotes {
  RecordState state = RecordState::kReserved;
  std::optional<ChosenBy> chosen = {};  // Always set for an allocated address.
  /// The range of the address. Empty means that it is not noted. An allocated address is then of
  /// the well-known IPRange of the family, as most are. It is a hint: ranges may have changed since
  /// it was stored. kNoRange says that no range contains the address; it is never stored.
  std::string range = {};
  /// The uid of the Service that the record was made for, if it is allocated. Empty if another
  /// server made the record.
  std::string service_uid = {};
  /// "namespace/name" of a Service. It outlasts the state: when that Service releases the address,
  /// the address is reserved for it again.
  std::string reserved_for = {};
  int64_t hold_seconds = 0;                  // Requested duration of a hold; 0 means no hold.
  std::optional<base::WallTime> since = {};  // Nullopt means since the record was created.
  std::optional<base::WallTime> until = {};  // Set for a pending or a free address.

  bool operator==(const RecordNotes&) const = default;
};

/// Reads the notes of an object that contains its internal annotations.
RecordNotes ReadNotes(const codec::Value& object);
/// Replaces the notes of an object.
void WriteNotes(codec::Value& object, const RecordNotes& notes);

/// Removes the internal annotations from an object. Returns the hidden text, which is empty if
/// there were no such annotations.
std::string TakeInternalAnnotations(codec::Value& object);
/// Puts the internal annotations back.
void PutInternalAnnotations(codec::Value& object, std::string_view hidden);

RecordNotes NotesOfHidden(std::string_view hidden);
std::string HiddenOf(const RecordNotes& notes);

/// Returns NotesOfHidden(hidden).state, but looks only at the beginning of the text.
RecordState StateOfHidden(std::string_view hidden);
/// Return NotesOfHidden(hidden).reserved_for and .range. Valid as long as the text.
std::string_view ReservedForOfHidden(std::string_view hidden);
std::string_view RangeOfHidden(std::string_view hidden);

/// Returns the range that the notes of an address name, or the one that a missing note stands for.
/// Empty if there is no range.
std::string_view RangeOrDefault(std::string_view address, RecordState state,
                                std::string_view noted);

/// Returns when an address's record ends by itself, if it is held or cools down. `hidden` is what
/// HiddenOf wrote.
std::optional<base::WallTime> AddressEnds(const codec::Value& address, std::string_view hidden);

}  // namespace berth::rules
