// A put that was seen in etcd, by which a process knows the time line of its store (time_line.h).
// Plain type. It does not need gRPC, so that notes (note.h) can be read without it.
#pragma once

#include <cstdint>
#include <string>

namespace etcdserverpb {
class KeyValue;
}  // namespace etcdserverpb

namespace berth::store::etcd {

/// A put that was seen in etcd. `key` is etcd's.
struct Witness {
  int64_t mod = 0;  // 0 means none.
  std::string key = {};
  std::string value = {};

  bool operator==(const Witness&) const = default;
  /// Returns whether this is the put.
  bool Is(const etcdserverpb::KeyValue& kv) const;
};

}  // namespace berth::store::etcd
