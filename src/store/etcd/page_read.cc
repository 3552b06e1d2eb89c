#include "store/etcd/page_read.h"

#include <algorithm>
#include <iterator>

#include "store/check.h"
#include "store/etcd/explain.h"
#include "store/etcd/leases.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// Number of keys in the first range of a page, when the size of values is not known, and in any
/// range.
constexpr size_t kFirstRange = 128;
constexpr size_t kMaxRange = 2500;
constexpr size_t kTtlsAtOnce = 32;

KeyRange RangeOf(const KeyMap& keys, const ScanRequest& request) {
  // If the range is empty, etcd is asked for no keys. It still reports its revision.
  KeyRange nothing = keys.All();
  nothing.end = nothing.begin + '\0';
  return keys.Within(request.prefix, request.after).value_or(nothing);
}

}  // namespace

base::Error ExplainRead(const CallError& error, const Context& context, Revision at,
                        Revision compacted) {
  if (IsCompacted(error)) return CompactedError(at, std::max(at, compacted));
  if (IsFuture(error)) {
    return FutureError(at, context.layout.revisions.Head(context.status.Seen()));
  }
  return error.error;
}

PageRead::PageRead(const Context& context, ScanRequest request, int64_t revision, Overlay overlay,
                   Revision compacted, Done<ScanPage> done)
    : context_(context),
      request_(std::move(request)),
      compacted_(compacted),
      done_(std::move(done)),
      revision_(revision),
      range_(RangeOf(context.layout.keys, request_)),
      overlay_(std::move(overlay)),
      at_once_(kFirstRange) {
  page_.at = request_.at;
}

void PageRead::Next() {
  pb::RangeRequest request;
  request.set_key(range_.begin);
  request.set_range_end(range_.end);
  request.set_revision(revision_);
  // One more than requested shows whether there are more.
  const size_t want = request_.limit + 1 - page_.entries.size();
  request.set_limit(static_cast<int64_t>(std::min(want, at_once_)));
  const int64_t seen = context_.status.Seen();
  context_.client.Range(std::move(request), [self = shared_from_this(), seen](auto reply) {
    self->Take(std::move(reply), seen);
  });
}

void PageRead::Take(CallResult<pb::RangeResponse> reply, int64_t seen) {
  if (!reply) {
    return done_(tl::unexpected(ExplainRead(reply.error(), context_, request_.at, compacted_)));
  }
  if (!context_.status.Check(reply->header(), seen)) {
    return done_(tl::unexpected(*context_.status.ReadStop()));
  }
  if (revision_ == 0) {
    revision_ = reply->header().revision();
    page_.at = context_.layout.revisions.Head(revision_);
  }
  size_t came = 0;
  for (const pb::KeyValue& kv : reply->kvs()) {
    came += kv.key().size() + kv.value().size();
    if (!Enough()) Add(kv);
  }
  if (!reply->more()) AddOverlayBefore(nullptr);
  if (Enough() || !reply->more() || reply->kvs_size() == 0) {
    Cut();
    return AskTtls();
  }
  if (context_.stop) {
    return done_(tl::unexpected(ClosingError()));
  }
  const size_t average = came / static_cast<size_t>(reply->kvs_size()) + 1;
  at_once_ = std::clamp(kMaxPageBytes / average, size_t{1}, std::min(at_once_ * 4, kMaxRange));
  range_.begin = reply->kvs(reply->kvs_size() - 1).key() + '\0';
  Next();
}

void PageRead::Add(const pb::KeyValue& kv) {
  Entry entry = context_.layout.EntryOf(kv);
  if (IsEngineKey(entry.key)) return;
  if (!overlay_.empty()) {
    AddOverlayBefore(&entry.key);
    const auto over = overlay_.find(entry.key);
    if (over != overlay_.end()) {
      if (over->second) Append(*std::move(over->second), 0);
      overlay_.erase(over);
      return;
    }
  }
  Append(std::move(entry), kv.lease());
}

/// Appends the overlay's keys that come before `key`, or all that are left if `key` is null.
void PageRead::AddOverlayBefore(const std::string* key) {
  while (!overlay_.empty() && !Enough()) {
    const auto first = overlay_.begin();
    if (key != nullptr && first->first >= *key) return;
    if (first->second) Append(*std::move(first->second), 0);
    overlay_.erase(first);
  }
}

void PageRead::Append(Entry entry, int64_t lease) {
  if (Enough()) return;
  context_.known.Note(entry.key, entry.revision);
  if (request_.keys_only) entry.value.clear();
  bytes_ += entry.key.size() + entry.value.size();
  cut_ = bytes_ > kMaxPageBytes && !page_.entries.empty();
  page_.entries.push_back(std::move(entry));
  leases_.push_back(lease);
}

void PageRead::Cut() {
  page_.more = Enough();
  if (!page_.more) return;
  page_.entries.pop_back();
  leases_.pop_back();
}

void PageRead::AskTtls() {
  if (!request_.with_ttl) return done_(std::move(page_));
  {
    base::MutexLock lock(mutex_);
    to_ask_ = leases_;
    std::sort(to_ask_.begin(), to_ask_.end());
    to_ask_.erase(std::unique(to_ask_.begin(), to_ask_.end()), to_ask_.end());
    std::erase(to_ask_, 0);
    asked_ = 1;  // Counts this function, so that nothing finishes before all calls have started.
  }
  for (size_t i = 0; i < kTtlsAtOnce; ++i) AskNextTtl();
  TakeTtl(0, {});
}

void PageRead::AskNextTtl() {
  pb::LeaseTimeToLiveRequest request;
  {
    base::MutexLock lock(mutex_);
    if (to_ask_.empty() || ttl_error_) return;
    if (context_.stop) {
      ttl_error_ = ClosingError();
      return;
    }
    request.set_id(to_ask_.back());
    to_ask_.pop_back();
    ++asked_;
  }
  const int64_t lease = request.id();
  context_.client.LeaseTimeToLive(request, [self = shared_from_this(), lease](auto reply) {
    self->TakeTtl(lease, std::move(reply));
  });
}

void PageRead::TakeTtl(int64_t lease, CallResult<pb::LeaseTimeToLiveResponse> reply) {
  {
    base::MutexLock lock(mutex_);
    if (reply) {
      ttls_[lease] = Leases::Left(reply->grantedttl(), reply->ttl());
    } else if (!ttl_error_) {
      ttl_error_ = reply.error().error;
    }
  }
  AskNextTtl();
  base::MutexLock lock(mutex_);
  if (--asked_ > 0) return;
  const std::optional<base::Error> error = ttl_error_;
  for (size_t i = 0; i < leases_.size(); ++i) {
    if (leases_[i] != 0) page_.entries[i].ttl = ttls_[leases_[i]];
  }
  lock.Unlock();
  if (error) return done_(tl::unexpected(*error));
  done_(std::move(page_));
}

}  // namespace berth::store::etcd
