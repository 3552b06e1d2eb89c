#include "store/rocks/key_index.h"

namespace berth::store::rocks {

void KeyIndex::Reserve(size_t keys) {
  base::MutexLock lock(mutex_);
  for (Part& part : parts_) part.reserve(keys / kParts + 1);
}

void KeyIndex::Load(const KeyHash& key, Revision revision) {
  base::MutexLock lock(mutex_);
  parts_[PartOf(key)][key] = revision;
  ++size_;
}

void KeyIndex::Publish(std::span<const Change> changes, Revision published) {
  base::MutexLock lock(mutex_);
  for (const Change& change : changes) {
    Part& part = parts_[PartOf(change.key)];
    if (!change.revision) {
      size_ -= part.erase(change.key);
    } else if (part.insert_or_assign(change.key, change.revision).second) {
      ++size_;
    }
  }
  published_ = published;
}

Revision KeyIndex::Find(const KeyHash& key) const {
  base::MutexLock lock(mutex_);
  const Part& part = parts_[PartOf(key)];
  const auto found = part.find(key);
  return found == part.end() ? Revision{} : found->second;
}

Revision KeyIndex::Published() const {
  base::MutexLock lock(mutex_);
  return published_;
}

size_t KeyIndex::Size() const {
  base::MutexLock lock(mutex_);
  return size_;
}

}  // namespace berth::store::rocks
