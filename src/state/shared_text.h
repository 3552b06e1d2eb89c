// Text that many objects have in common, kept once. Equal texts are one allocation, which is freed
// with its last user. All users of a process share the tables in which texts are looked up.
//
// Threads: safe from any thread. To get a text that already exists costs a lookup in one of several
// tables, under the lock of that table. To release a text takes the lock only for its last user.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::state {

class SharedText {
 public:
  /// Takes a text of at most 4 GiB. An empty text takes no memory.
  explicit SharedText(std::string_view text);
  ~SharedText();
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  bool IsEmpty() const { return entry_ == nullptr; }

  /// Returns the text, which is valid as long as this object is.
  std::string_view Get() const;

  /// Returns the size of the allocation divided by the number of its users at the moment.
  size_t ShareOfBytes() const;

  /// Returns the number of different texts in the process at the moment.
  static size_t CountAll();

  struct Entry;

 private:
  Entry* const entry_;  // Null if the text is empty.
};

}  // namespace berth::state
