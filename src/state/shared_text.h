// Text that many objects have in common, kept once: equal texts are one allocation, which goes with
// the last user. The table that finds them is the process's own.
//
// Threads: safe from any thread. A text that is there already costs a look into one of several
// tables under its lock; giving one up costs the lock only when nobody else uses it.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::state {

class SharedText {
 public:
  /// At most 4 GiB. Empty text takes no memory.
  explicit SharedText(std::string_view text);
  ~SharedText();
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  bool IsEmpty() const { return entry_ == nullptr; }

  /// Valid as long as this is.
  std::string_view Get() const;

  /// What its allocation takes, divided by how many use it right now.
  size_t ShareOfBytes() const;

  /// How many different texts there are at the moment.
  static size_t CountAll();

  struct Entry;

 private:
  Entry* const entry_;  // Null: empty.
};

}  // namespace berth::state
