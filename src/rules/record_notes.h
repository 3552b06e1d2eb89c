// What the server notes of an address beside what Kubernetes' IPAddress has room for: in which
// state it is, how it was chosen, which range it lies in, for whom it is kept. Notes are stored
// with the object as annotations that no client sees or sets. In the picture they are one text, the
// *hidden* text of the object, which is short for what there is most of (`static` or `dynamic`:
// some Service has it), tells the state by its beginning and loses nothing.
//
// Pure; any text may be given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/value.h"

namespace berth::rules {

/// Annotations that are stored with an object and that no client sees or sets have names that begin
/// with this.
inline constexpr std::string_view kInternalPrefix = "internal.allocation.berth.io/";
/// How the address was chosen: `static` by who asked for it, `dynamic` by the allocator.
inline constexpr std::string_view kChosenAnnotation = "internal.allocation.berth.io/chosen";

/// A range that is noted of an address is an IPRange; with this before its name, a ServiceCIDR that
/// no IPRange speaks for.
inline constexpr std::string_view kServiceCidrNote = "servicecidrs/";

enum class RecordState : uint8_t {
  kAllocated,  // A Service has it.
  kReserved,   // Nobody may take it, or one Service only. What has no notes is this, unless a
               // kube-apiserver made it: somebody did through networking.k8s.io.
  kPending,    // Held for one Service, for a while.
  kFree,       // Given back a while ago, and not drawn yet.
};
/// "Allocated".
std::string_view StateText(RecordState state);

enum class ChosenBy : uint8_t { kOwner, kAllocator };  // Static and dynamic.

struct RecordNotes {
  RecordState state = RecordState::kReserved;
  std::optional<ChosenBy> chosen = {};  // Of an allocated one always.
  /// The range it lies in. Empty: not noted; of an allocated one that is the well-known IPRange of
  /// the family, which most are of.
  std::string range = {};
  std::string reserved_for = {};  // "namespace/name" of a Service. It outlasts the state: what
                                  // that Service gives back is reserved for it again.
  int64_t hold_seconds = 0;       // For how long it was to be held; 0: it is no hold.
  std::optional<base::WallTime> since = {};  // Nothing: since it was made.
  std::optional<base::WallTime> until = {};  // Of a pending or a free one.

  bool operator==(const RecordNotes&) const = default;
};

/// Of an object with its internal annotations in it.
RecordNotes ReadNotes(const codec::Value& object);
/// Replaces those that it has.
void WriteNotes(codec::Value& object, const RecordNotes& notes);

/// Takes the internal annotations out of an object; the hidden text, empty if there were none.
std::string TakeInternalAnnotations(codec::Value& object);
/// Puts them back.
void PutInternalAnnotations(codec::Value& object, std::string_view hidden);

RecordNotes NotesOfHidden(std::string_view hidden);
std::string HiddenOf(const RecordNotes& notes);

/// The same as NotesOfHidden(hidden).state, by a look at its beginning.
RecordState StateOfHidden(std::string_view hidden);
/// The same as NotesOfHidden(hidden).reserved_for. Valid as long as the text.
std::string_view ReservedForOfHidden(std::string_view hidden);

}  // namespace berth::rules
