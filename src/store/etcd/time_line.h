// What this process has seen of the past of its etcd, so that it notices when that past is replaced
// by another one. A restore from a backup changes no key, may keep the cluster's id, and the
// revision may soon be higher again than it was. So the process remembers a witness: one put that
// it has seen, of a key and a value that are never put twice. As long as etcd shows that put at its
// revision, everything up to that revision is as it was.
//
// Witnesses are the receipts of processes and the ticks. Every write of Berth has one of them. Only
// the feed brings new ones, and only from a stream that has shown the last one. So a reply from
// another time line never becomes a witness of it.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/mutex.h"
#include "store/etcd/await.h"
#include "store/etcd/etcd.pb.h"
#include "store/etcd/witness.h"

namespace berth::store::etcd {

struct Context;
class KeyMap;

class TimeLine {
 public:
  /// `id` is this process's, which no other process has. `own_prefix` is what the keys of its
  /// receipts begin with.
  TimeLine(const KeyMap& keys, std::string id, std::string own_prefix);

  /// Returns a value for a put that no put has had.
  std::string Stamp();

  /// Takes the put as the newest witness, if it can be one and is newer.
  void See(const etcdserverpb::KeyValue& kv);
  Witness Newest() const;
  /// Returns the newest witness that is a receipt of this process. Its key changes by this
  /// process's writes only, so it can be found after its history is compacted.
  Witness Own() const;

 private:
  const std::string tick_key_;
  const std::string receipts_;  // What the keys of all receipts begin with.
  const std::string id_;
  const std::string own_prefix_;
  std::atomic<uint64_t> stamps_ = 0;
  mutable base::Mutex mutex_;
  Witness newest_ GUARDED_BY(mutex_);
  Witness own_ GUARDED_BY(mutex_);
};

/// Returns the read of a witness at its revision. The reply also has etcd's current revision.
etcdserverpb::RangeRequest WitnessRequest(const Witness& witness);

enum class Proof : uint8_t {
  kSame,   // The witness is there.
  kOther,  // Something else is there, or etcd has not come to that revision: another time line.
  kOpen,   // Not known: its history is compacted, or etcd did not answer.
};
/// Judges the reply to a WitnessRequest.
Proof Judge(const Witness& witness, const CallResult<etcdserverpb::RangeResponse>& reply);

/// Judges the reply to a WitnessRequest that was sent when `seen` was Status::Seen. Stops the
/// engine and returns false if etcd has another time line.
bool Accept(const Context& context, const Witness& witness,
            const CallResult<etcdserverpb::RangeResponse>& reply, int64_t seen);

/// Looks at the marker as it is now, empty if it does not exist. Returns nullopt if it is still
/// `text`, otherwise the error for writes. Stops the engine if another process changed the marker
/// (a new time line), or if it is gone. Reports trouble while it cannot be understood: then a
/// person has to act.
std::optional<base::Error> CheckMarker(const Context& context, const std::string& text,
                                       const std::string& now);

/// Stops the engine, because the witness is missing.
void StopForTimeLine(const Context& context, const Witness& witness);

}  // namespace berth::store::etcd
