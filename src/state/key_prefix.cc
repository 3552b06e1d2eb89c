#include "state/key_prefix.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/mutex.h"

namespace berth::state {
namespace {

/// A text is never moved or freed. A thread that has a number can read its text without the lock,
/// because the text was written before the number was returned.
struct Table {
  base::Mutex mutex;
  size_t count GUARDED_BY(mutex) = 0;
  std::array<std::string_view, KeyPrefix::kMost> texts = {};
};

Table& Prefixes() {
  static auto& table = *new Table();
  return table;
}

uint16_t NumberOf(std::string_view text) {
  Table& table = Prefixes();
  base::MutexLock lock(table.mutex);
  const auto end = table.texts.begin() + static_cast<ptrdiff_t>(table.count);
  const auto found = std::find(table.texts.begin(), end, text);
  if (found == end) {
    if (table.count == KeyPrefix::kMost) std::abort();
    char* const kept = new char[text.size()];
    std::copy(text.begin(), text.end(), kept);
    *found = {kept, text.size()};
    ++table.count;
  }
  return static_cast<uint16_t>(found - table.texts.begin());
}

}  // namespace

KeyPrefix::KeyPrefix(std::string_view text) : number_(NumberOf(text)) {}

std::string_view KeyPrefix::Text() const {
  return number_ < kMost ? Prefixes().texts[number_] : std::string_view();
}

}  // namespace berth::state
