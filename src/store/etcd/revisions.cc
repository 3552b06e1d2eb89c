#include "store/etcd/revisions.h"

#include <algorithm>
#include <utility>

#include "store/keys.h"

namespace berth::store::etcd {

Revision Revisions::At(int64_t mod, int slot) const {
  return {base_.value + (mod << kSlotBits | slot)};
}

EventPosition Revisions::Of(Revision revision) const {
  const int64_t own = revision.value - base_.value;
  if (own < (int64_t{1} << kSlotBits)) return {};
  return {.mod = own >> kSlotBits, .slot = static_cast<int>(own & kHeadSlot)};
}

int64_t Revisions::FirstAfter(Revision after) const {
  const EventPosition position = Of(after);
  if (position.mod == 0) return 1;
  return position.slot == kHeadSlot ? position.mod + 1 : position.mod;
}

int64_t Revisions::LastWithin(Revision upto) const { return FirstAfter(upto) - 1; }

KeyMap::KeyMap(std::string_view prefix) : root_(prefix) { root_ += '/'; }

bool KeyMap::Covers(std::string_view key) {
  return key.size() > kPrefix.size() && key.starts_with(kPrefix);
}

std::string KeyMap::ToEtcd(std::string_view key) const {
  std::string mapped;
  mapped.reserve(root_.size() + key.size() - kPrefix.size());
  mapped += root_;
  mapped += key.substr(kPrefix.size());
  return mapped;
}

std::string KeyMap::ToCaller(std::string_view etcd_key) const {
  std::string key;
  key.reserve(kPrefix.size() + etcd_key.size() - root_.size());
  key += kPrefix;
  key += etcd_key.substr(root_.size());
  return key;
}

KeyRange KeyMap::All() const { return {.begin = root_, .end = PrefixEnd(root_)}; }

std::optional<KeyRange> KeyMap::Within(std::string_view prefix, std::string_view after) const {
  KeyRange range = All();
  if (prefix.starts_with(kPrefix)) {
    range.begin = ToEtcd(prefix);
    range.end = PrefixEnd(range.begin);
  } else if (!kPrefix.starts_with(prefix)) {
    return std::nullopt;
  }
  if (after.starts_with(kPrefix)) {
    // The next key in byte order is the same key followed by a NUL.
    range.begin = std::max(range.begin, ToEtcd(after) + '\0');
  } else if (after > kPrefix) {
    return std::nullopt;
  }
  if (range.begin >= range.end) return std::nullopt;
  return range;
}

std::string PrefixEnd(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace berth::store::etcd
