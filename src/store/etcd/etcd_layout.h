// How the store is laid out in etcd: keys, revisions, slots, and how many operations one etcd Txn
// may have. These are plain values, so that functions of them alone stay pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "store/etcd/etcd.pb.h"
#include "store/etcd/revisions.h"
#include "store/event_slot.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Layout {
  KeyMap keys;
  Revisions revisions;
  SlotCodec slots;
  size_t max_txn_ops = 128;

  /// Returns the slot noted in a put's value. Returns 0 if the noted slot is not one that a put may
  /// have.
  int SlotOf(std::string_view key, std::string_view value) const {
    const int slot = slots.read(key, value);
    return slot >= 0 && slot < kFirstDeleteSlot ? slot : 0;
  }

  /// Converts a stored key to the entry that callers see.
  Entry EntryOf(const etcdserverpb::KeyValue& kv) const {
    Entry entry{.key = keys.ToCaller(kv.key()), .value = kv.value(), .revision = {}, .ttl = {}};
    entry.revision = revisions.At(kv.mod_revision(), SlotOf(entry.key, entry.value));
    return entry;
  }
};

}  // namespace berth::store::etcd
