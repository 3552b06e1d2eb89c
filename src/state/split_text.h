// Splits wire text in two. The shape is the text that objects of the same form have in common. The
// own part is the rest: the marked parts and the times in the managed fields. Any text may be
// split, and joining restores it byte for byte. Own parts are packed (base/packed_uuid.h,
// packed_text.h). A value that is repeated is kept once, and a value that equals the object's name
// is not kept at all.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "state/wire_text.h"

namespace berth::state {

struct SplitText {
  std::string shape;
  std::string own;
};

/// Returns whether the text has marked parts and can be split at all of them.
bool CanSplit(const WireText& wire);

/// Splits a text for which CanSplit is true.
SplitText Split(const WireText& wire, std::string_view name);

/// A view of a text that was split.
class JoinedText {
 public:
  JoinedText(std::string_view shape, const char* own, std::string_view name)
      : shape_(shape), own_(own), name_(name) {}

  /// Returns the size of the own part in bytes.
  size_t OwnSize() const;
  /// Returns the length of the whole text with an empty version.
  size_t Size() const;

  struct Wanted {
    bool from_metadata = false;
    bool managed_fields = true;
    std::string_view version = {};
  };
  /// Appends the parts of the text that are wanted. Returns where the version ends in `out`.
  size_t AppendTo(std::string& out, const Wanted& wanted) const;

 private:
  std::string_view shape_;
  const char* own_;
  std::string_view name_;
};

}  // namespace berth::state
