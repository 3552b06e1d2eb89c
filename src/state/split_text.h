// Wire text in two: its shape, which objects made alike have in common, and what is the object's
// own: the marked parts and the times in its managed fields. Any text may be split; it comes back
// byte for byte. Own parts are kept packed (packed_text.h), and only once if they are alike or the
// object's name.
//
// Pure functions of what they are given.
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

/// Whether the text has marks, and marks that it can be split at.
bool CanSplit(const WireText& wire);

/// Of a text that can be split.
SplitText Split(const WireText& wire, std::string_view name);

/// A text that was split.
class JoinedText {
 public:
  JoinedText(std::string_view shape, const char* own, std::string_view name)
      : shape_(shape), own_(own), name_(name) {}

  size_t OwnSize() const;
  /// With an empty version.
  size_t Size() const;

  struct Wanted {
    bool from_metadata = false;
    bool managed_fields = true;
    std::string_view version = {};
  };
  /// Returns where the version ends in `out`.
  size_t AppendTo(std::string& out, const Wanted& wanted) const;

 private:
  std::string_view shape_;
  const char* own_;
  std::string_view name_;
};

}  // namespace berth::state
