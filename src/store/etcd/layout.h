// How the store lies in etcd: keys, revisions, slots, and how much one etcd Txn takes. Plain
// values, so that what is computed from them alone stays pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "store/etcd/etcd.pb.h"
#include "store/etcd/revisions.h"
#include "store/slot.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Layout {
  KeyMap keys;
  Revisions revisions;
  SlotCodec slots;
  size_t max_txn_ops = 128;

  /// The slot noted in a put's value. Whatever stands there, it is one a put may have.
  int SlotOf(std::string_view key, std::string_view value) const {
    const int slot = slots.read(key, value);
    return slot >= 0 && slot < kFirstDeleteSlot ? slot : 0;
  }

  /// A stored key as callers see it.
  Entry EntryOf(const etcdserverpb::KeyValue& kv) const {
    Entry entry{.key = keys.ToCaller(kv.key()), .value = kv.value(), .revision = {}, .ttl = {}};
    entry.revision = revisions.At(kv.mod_revision(), SlotOf(entry.key, entry.value));
    return entry;
  }
};

}  // namespace berth::store::etcd
