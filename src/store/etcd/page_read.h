// The read of one page of a prefix, range by range.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/await.h"
#include "store/etcd/etcd_context.h"
#include "store/types.h"

namespace berth::store::etcd {

/// Keys whose state differs from what etcd returns: an entry, or nullopt for a key that does not
/// exist.
using Overlay = std::map<std::string, std::optional<Entry>>;

/// Explains why etcd refused a read at a revision. `compacted` is the last compaction known.
base::Error ExplainRead(const CallError& error, const Context& context, Revision at,
                        Revision compacted);

class PageRead : public std::enable_shared_from_this<PageRead> {
 public:
  /// Reads at the etcd revision `revision` (0 means the current one), applies the overlay, and
  /// reports the page as the state at `request.at`. `context` must outlive the object.
  PageRead(const Context& context, ScanRequest request, int64_t revision, Overlay overlay,
           Revision compacted, Done<ScanPage> done);

  void Start() { Next(); }

 private:
  void Next();
  void Take(CallResult<etcdserverpb::RangeResponse> reply, int64_t seen);
  void Add(const etcdserverpb::KeyValue& kv);
  void AddOverlayBefore(const std::string* key);
  void Append(Entry entry, int64_t lease);
  bool Enough() const { return cut_ || page_.entries.size() > request_.limit; }
  void Cut();

  void AskTtls();
  void AskNextTtl();
  void TakeTtl(int64_t lease, CallResult<etcdserverpb::LeaseTimeToLiveResponse> reply);

  const Context& context_;
  const ScanRequest request_;
  const Revision compacted_;
  Done<ScanPage> done_;

  int64_t revision_;
  KeyRange range_;
  Overlay overlay_;
  ScanPage page_;
  std::vector<int64_t> leases_;  // Lease of each entry, or 0.
  size_t bytes_ = 0;
  /// The page has reached its size limit; the last entry belongs to the next page.
  bool cut_ = false;
  size_t at_once_;

  base::Mutex mutex_;  // For the ttls, several of which are requested at a time.
  std::vector<int64_t> to_ask_ GUARDED_BY(mutex_);
  size_t asked_ GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<int64_t, std::chrono::seconds> ttls_ GUARDED_BY(mutex_);
  std::optional<base::Error> ttl_error_ GUARDED_BY(mutex_);
};

}  // namespace berth::store::etcd
