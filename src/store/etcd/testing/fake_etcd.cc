#include "store/etcd/testing/fake_etcd.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth::store::etcd::testing {
namespace {

namespace pb = etcdserverpb;

constexpr uint64_t kCluster = 77;
constexpr int kUnavailable = 14;
constexpr int kInvalid = 3;

tl::unexpected<std::string> Words(std::string text) {
  return tl::unexpected<std::string>(std::move(text));
}

bool Within(const std::string& key, const std::string& begin, const std::string& end) {
  if (end.empty()) return key == begin;
  return key >= begin && (end == std::string(1, '\0') || key < end);
}

/// Collects the keys put and the ranges deleted by the branches that may be taken. Returns false if
/// a key is put twice.
bool Collect(const pb::TxnRequest& request, std::set<std::string>& puts,
             std::vector<std::pair<std::string, std::string>>& deletes) {
  for (const pb::RequestOp& op : request.success()) {
    if (op.has_request_put() && !puts.insert(op.request_put().key()).second) return false;
    if (op.has_request_delete_range()) {
      deletes.emplace_back(op.request_delete_range().key(), op.request_delete_range().range_end());
    }
    if (op.has_request_txn() && !Collect(op.request_txn(), puts, deletes)) return false;
  }
  return true;
}

bool Writes(const pb::TxnRequest& request) {
  return std::any_of(request.success().begin(), request.success().end(),
                     [](const pb::RequestOp& op) {
                       return op.has_request_put() || op.has_request_delete_range() ||
                              (op.has_request_txn() && Writes(op.request_txn()));
                     });
}

}  // namespace

// --- The model -----------------------------------------------------------------------------------

std::optional<std::string> FakeEtcd::Check(const pb::TxnRequest& request, size_t ops) const {
  const auto here = static_cast<size_t>(
      std::max({request.compare_size(), request.success_size(), request.failure_size()}));
  if (here > ops) return "etcdserver: too many operations in txn request";
  for (const auto* branch : {&request.success(), &request.failure()}) {
    for (const pb::RequestOp& op : *branch) {
      if (!op.has_request_txn()) continue;
      if (auto error = Check(op.request_txn(), ops - here)) return error;
    }
  }
  return std::nullopt;
}

FakeEtcd::Answer<pb::TxnResponse> FakeEtcd::Txn(const pb::TxnRequest& request) {
  if (auto error = Check(request, max_txn_ops_)) return tl::unexpected(*error);
  std::set<std::string> puts;
  std::vector<std::pair<std::string, std::string>> deletes;
  bool meet = !Collect(request, puts, deletes);
  for (const auto& [begin, end] : deletes) {
    for (const std::string& key : puts) meet = meet || Within(key, begin, end);
  }
  if (meet) return Words("etcdserver: duplicate key given in txn request");
  base::MutexLock lock(mutex_);
  for (const pb::RequestOp& op : request.success()) {
    if (!op.has_request_put() || op.request_put().lease() == 0) continue;
    if (!leases_.contains(op.request_put().lease())) {
      return Words("etcdserver: requested lease not found");
    }
  }
  for (const pb::RequestOp& op : request.success()) {
    if (op.has_request_range() && op.request_range().revision() > 0 &&
        op.request_range().revision() < compacted_) {
      return Words("etcdserver: mvcc: required revision has been compacted");
    }
  }
  const Path path = Decide(request);
  pb::TxnResponse response;
  wrote_ = false;
  Run(request, path, response);
  if (wrote_) ++revision_;
  Fill(*response.mutable_header());
  return response;
}

FakeEtcd::Path FakeEtcd::Decide(const pb::TxnRequest& request) {
  Path path;
  path.succeeded = std::all_of(request.compare().begin(), request.compare().end(),
                               [this](const pb::Compare& compare)
                                   NO_THREAD_SAFETY_ANALYSIS { return Holds(compare); });
  for (const pb::RequestOp& op : path.succeeded ? request.success() : request.failure()) {
    if (op.has_request_txn()) path.nested.push_back(Decide(op.request_txn()));
  }
  return path;
}

bool FakeEtcd::Holds(const pb::Compare& compare) {
  const Version* version = At(compare.key(), revision_);
  const pb::KeyValue kv = version != nullptr ? version->kv : pb::KeyValue();
  return compare.target() == pb::Compare::VERSION ? kv.version() == compare.version()
                                                  : kv.mod_revision() == compare.mod_revision();
}

void FakeEtcd::Run(const pb::TxnRequest& request, const Path& path, pb::TxnResponse& response) {
  response.set_succeeded(path.succeeded);
  size_t nested = 0;
  for (const pb::RequestOp& op : path.succeeded ? request.success() : request.failure()) {
    pb::ResponseOp& answer = *response.add_responses();
    if (op.has_request_put()) {
      Put(op.request_put());
      answer.mutable_response_put();
    } else if (op.has_request_delete_range()) {
      const pb::DeleteRangeRequest& range = op.request_delete_range();
      answer.mutable_response_delete_range()->set_deleted(Delete(range.key(), range.range_end()));
    } else if (op.has_request_range()) {
      Read(op.request_range(), *answer.mutable_response_range());
    } else {
      Run(op.request_txn(), path.nested[nested++], *answer.mutable_response_txn());
    }
  }
}

void FakeEtcd::Put(const pb::PutRequest& put) {
  const Version* before = At(put.key(), revision_);
  const int64_t mod = revision_ + 1;
  Version version;
  version.kv.set_key(put.key());
  version.kv.set_value(put.value());
  version.kv.set_lease(put.lease());
  version.kv.set_mod_revision(mod);
  version.kv.set_create_revision(before != nullptr ? before->kv.create_revision() : mod);
  version.kv.set_version(before != nullptr ? before->kv.version() + 1 : 1);
  pb::Event event;
  *event.mutable_kv() = version.kv;
  if (before != nullptr) *event.mutable_prev_kv() = before->kv;
  log_[mod].push_back(std::move(event));
  keys_[put.key()].push_back(std::move(version));
  wrote_ = true;
}

int64_t FakeEtcd::Delete(const std::string& begin, const std::string& end) {
  int64_t deleted = 0;
  const int64_t mod = revision_ + 1;
  for (auto& [key, versions] : keys_) {
    const Version* before = At(key, mod);
    if (!Within(key, begin, end) || before == nullptr) continue;
    pb::Event event;
    event.set_type(pb::Event::DELETE);
    event.mutable_kv()->set_key(key);
    event.mutable_kv()->set_mod_revision(mod);
    *event.mutable_prev_kv() = before->kv;
    Version version{.kv = event.kv(), .deleted = true};
    log_[mod].push_back(std::move(event));
    versions.push_back(std::move(version));
    wrote_ = true;
    ++deleted;
  }
  return deleted;
}

/// Returns null if the key does not exist at that revision.
const FakeEtcd::Version* FakeEtcd::At(const std::string& key, int64_t revision) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const Version* last = nullptr;
  for (const Version& version : found->second) {
    if (version.kv.mod_revision() <= revision) last = &version;
  }
  return last == nullptr || last->deleted ? nullptr : last;
}

void FakeEtcd::Read(const pb::RangeRequest& request, pb::RangeResponse& response) {
  // A read inside a Txn sees what the Txn has written so far.
  const int64_t revision = request.revision() > 0 ? request.revision() : revision_ + 1;
  int64_t count = 0;
  for (const auto& [key, versions] : keys_) {
    const Version* version = At(key, revision);
    if (version == nullptr || !Within(key, request.key(), request.range_end())) continue;
    ++count;
    if (request.count_only()) continue;
    if (request.limit() > 0 && response.kvs_size() == request.limit()) {
      response.set_more(true);
      continue;
    }
    *response.add_kvs() = version->kv;
    if (request.keys_only()) response.mutable_kvs(response.kvs_size() - 1)->clear_value();
  }
  response.set_count(count);
}

FakeEtcd::Answer<pb::RangeResponse> FakeEtcd::Range(const pb::RangeRequest& request) {
  base::MutexLock lock(mutex_);
  if (request.revision() > revision_) {
    return Words("etcdserver: mvcc: required revision is a future revision");
  }
  if (request.revision() > 0 && request.revision() < compacted_) {
    return Words("etcdserver: mvcc: required revision has been compacted");
  }
  pb::RangeResponse response;
  Read(request, response);
  Fill(*response.mutable_header());
  return response;
}

FakeEtcd::Answer<pb::CompactionResponse> FakeEtcd::Compact(int64_t revision) {
  base::MutexLock lock(mutex_);
  if (revision <= compacted_) {
    return Words("etcdserver: mvcc: required revision has been compacted");
  }
  if (revision > revision_) {
    return Words("etcdserver: mvcc: required revision is a future revision");
  }
  compacted_ = revision;
  pb::CompactionResponse response;
  Fill(*response.mutable_header());
  return response;
}

int64_t FakeEtcd::Grant(int64_t ttl) {
  base::MutexLock lock(mutex_);
  const int64_t id = ++last_lease_;  // No id is used twice, as in etcd.
  leases_[id] = ttl;
  return id;
}

std::optional<int64_t> FakeEtcd::GrantedTtl(int64_t lease) {
  base::MutexLock lock(mutex_);
  const auto found = leases_.find(lease);
  if (found == leases_.end() || found->second == 0) return std::nullopt;
  return found->second;
}

void FakeEtcd::Expire(int64_t lease) {
  base::MutexLock lock(mutex_);
  leases_.erase(lease);
  std::vector<std::string> attached;
  for (const auto& [key, versions] : keys_) {
    const Version* version = At(key, revision_);
    if (version != nullptr && version->kv.lease() == lease) attached.push_back(key);
  }
  wrote_ = false;
  for (const std::string& key : attached) Delete(key, "");
  if (wrote_) ++revision_;
}

std::vector<pb::Event> FakeEtcd::Events(int64_t revision, const std::string& begin,
                                        const std::string& end, bool prev_kv) {
  base::MutexLock lock(mutex_);
  std::vector<pb::Event> events;
  if (revision > revision_) return events;
  for (const pb::Event& event : log_[revision]) {
    if (!Within(event.kv().key(), begin, end)) continue;
    events.push_back(event);
    if (!prev_kv) events.back().clear_prev_kv();
  }
  return events;
}

int64_t FakeEtcd::Revision() {
  base::MutexLock lock(mutex_);
  return revision_;
}

int64_t FakeEtcd::Compacted() {
  base::MutexLock lock(mutex_);
  return compacted_;
}

void FakeEtcd::GoBackTo(int64_t revision) {
  base::MutexLock lock(mutex_);
  for (auto& [key, versions] : keys_) {
    std::erase_if(versions, [&](const Version& v) { return v.kv.mod_revision() > revision; });
  }
  log_.erase(log_.upper_bound(revision), log_.end());
  revision_ = revision;
}

void FakeEtcd::Fill(pb::ResponseHeader& header) {
  header.set_cluster_id(kCluster);
  header.set_revision(revision_);
}

// --- The client ----------------------------------------------------------------------------------

namespace {

CallError Lost() {
  return {.error = {.reason = base::Reason::kTimeout, .message = "etcd at fake: timed out"},
          .ambiguous = true,
          .never_sent = false,
          .code = kUnavailable,
          .text = "etcdserver: request timed out"};
}

CallError NotConnected() {
  return {.error = {.reason = base::Reason::kServiceUnavailable,
                    .message = "etcd at fake: nothing listens there"},
          .ambiguous = false,
          .never_sent = true,
          .code = kUnavailable,
          .text = "connection refused"};
}

CallError Refused(const std::string& text) {
  return {.error = {.reason = base::Reason::kInternalError, .message = "etcd at fake: " + text},
          .ambiguous = false,
          .never_sent = false,
          .code = kInvalid,
          .text = text};
}

}  // namespace

class FakeClient::Stream {
 public:
  Stream(pb::WatchCreateRequest request, WatchCallbacks callbacks)
      : request_(std::move(request)),
        callbacks_(std::move(callbacks)),
        next_(request_.start_revision()) {}

  /// Delivers the events so far. If `end` is true, the stream ends.
  void Pump(FakeEtcd& etcd, bool end) {
    base::MutexLock lock(mutex_);
    if (over_) return;
    const int64_t now = etcd.Revision();
    if (next_ == 0) next_ = now + 1;
    if (next_ < etcd.Compacted()) {
      pb::WatchResponse response;
      response.set_canceled(true);
      response.set_compact_revision(etcd.Compacted());
      callbacks_.on_response(std::move(response));
      end = true;
    }
    for (; !end && next_ <= now; ++next_) {
      pb::WatchResponse response;
      for (pb::Event& event :
           etcd.Events(next_, request_.key(), request_.range_end(), request_.prev_kv())) {
        *response.add_events() = std::move(event);
      }
      if (response.events_size() > 0) callbacks_.on_response(std::move(response));
    }
    if (!end) return;
    over_ = true;
    callbacks_.on_end(NotConnected());
  }

  void Silence() {
    base::MutexLock lock(mutex_);
    over_ = true;
  }

 private:
  const pb::WatchCreateRequest request_;
  const WatchCallbacks callbacks_;
  base::Mutex mutex_;
  int64_t next_ GUARDED_BY(mutex_);
  bool over_ GUARDED_BY(mutex_) = false;
};

FakeClient::~FakeClient() {
  std::vector<Reply<pb::TxnResponse>> silent;
  {
    base::MutexLock lock(mutex_);
    silent.swap(silent_);
  }
  for (auto& reply : silent) Fail(std::move(reply), Lost());
  worker_.End();
}

template <typename T>
void FakeClient::Answer(FakeEtcd::Answer<T> answer, Reply<T> reply) {
  worker_.Post([this, answer = std::move(answer), reply = std::move(reply)] {
    if (answer) {
      reply(*answer);
    } else {
      reply(tl::unexpected(Refused(answer.error())));
    }
    Pump();
  });
}

template <typename T>
void FakeClient::Fail(Reply<T> reply, CallError error) {
  worker_.Post([this, reply = std::move(reply), error = std::move(error)] {
    reply(tl::unexpected(error));
    Pump();
  });
}

/// Delivers events to the watches. Runs on the worker's thread only.
void FakeClient::Pump() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    base::MutexLock lock(mutex_);
    streams = streams_;
  }
  for (const auto& stream : streams) stream->Pump(etcd_, /*end=*/false);
}

bool FakeClient::Deliver() {
  pb::TxnRequest request;
  {
    base::MutexLock lock(mutex_);
    if (late_.empty()) return false;
    request = std::move(late_.front());
    late_.erase(late_.begin());
  }
  (void)etcd_.Txn(request);
  worker_.Post([this] { Pump(); });
  return true;
}

void FakeClient::BreakWatches() {
  worker_.Post([this] {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      base::MutexLock lock(mutex_);
      streams = streams_;
    }
    for (const auto& stream : streams) stream->Pump(etcd_, /*end=*/true);
  });
}

void FakeClient::Range(pb::RangeRequest request, Reply<pb::RangeResponse> reply) {
  if (network_.reads_fail) return Fail(std::move(reply), NotConnected());
  Answer(etcd_.Range(request), std::move(reply));
}

void FakeClient::Txn(pb::TxnRequest request, Reply<pb::TxnResponse> reply) {
  if (!Writes(request)) {
    if (network_.reads_fail) return Fail(std::move(reply), NotConnected());
    return Answer(etcd_.Txn(request), std::move(reply));
  }
  const Fate fate = network_.Ask(request);
  switch (fate.kind) {
    case Fate::Kind::kAnswer:
      return Answer(etcd_.Txn(request), std::move(reply));
    case Fate::Kind::kLoseReply:
      (void)etcd_.Txn(request);
      return Fail(std::move(reply), Lost());
    case Fate::Kind::kLoseRequest:
      return Fail(std::move(reply), Lost());
    case Fate::Kind::kRefuse:
      return Fail(std::move(reply), Refused(fate.text));
    case Fate::Kind::kNoConnection:
      return Fail(std::move(reply), NotConnected());
    case Fate::Kind::kSilence: {
      (void)etcd_.Txn(request);
      base::MutexLock lock(mutex_);
      silent_.push_back(std::move(reply));
      return;
    }
    case Fate::Kind::kLate: {
      {
        base::MutexLock lock(mutex_);
        late_.push_back(std::move(request));
      }
      Fail(std::move(reply), Lost());
    }
  }
}

void FakeClient::Compact(pb::CompactionRequest request, Reply<pb::CompactionResponse> reply) {
  Answer(etcd_.Compact(request.revision()), std::move(reply));
}

void FakeClient::LeaseGrant(pb::LeaseGrantRequest request, Reply<pb::LeaseGrantResponse> reply) {
  if (network_.leases_fail) return Fail(std::move(reply), NotConnected());
  pb::LeaseGrantResponse response;
  response.set_id(etcd_.Grant(request.ttl()));
  response.set_ttl(request.ttl());
  Answer<pb::LeaseGrantResponse>(response, std::move(reply));
}

void FakeClient::LeaseRevoke(pb::LeaseRevokeRequest request, Reply<pb::LeaseRevokeResponse> reply) {
  etcd_.Expire(request.id());
  Answer<pb::LeaseRevokeResponse>(pb::LeaseRevokeResponse(), std::move(reply));
}

void FakeClient::LeaseTimeToLive(pb::LeaseTimeToLiveRequest request,
                                 Reply<pb::LeaseTimeToLiveResponse> reply) {
  pb::LeaseTimeToLiveResponse response;
  const auto granted = etcd_.GrantedTtl(request.id());
  response.set_grantedttl(granted.value_or(0));
  response.set_ttl(granted ? *granted - 1 : -1);
  Answer<pb::LeaseTimeToLiveResponse>(response, std::move(reply));
}

void FakeClient::LeaseKeepAlive(pb::LeaseKeepAliveRequest request,
                                Reply<pb::LeaseKeepAliveResponse> reply) {
  pb::LeaseKeepAliveResponse response;
  response.set_ttl(etcd_.GrantedTtl(request.id()).value_or(0));
  Answer<pb::LeaseKeepAliveResponse>(response, std::move(reply));
}

std::unique_ptr<WatchStream> FakeClient::Watch(pb::WatchCreateRequest request,
                                               WatchCallbacks callbacks) {
  /// Removes the stream from the client when it is destroyed.
  class Handle final : public WatchStream {
   public:
    Handle(FakeClient& client, std::shared_ptr<Stream> stream)
        : client_(client), stream_(std::move(stream)) {}
    ~Handle() override {
      stream_->Silence();
      base::MutexLock lock(client_.mutex_);
      std::erase(client_.streams_, stream_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

   private:
    FakeClient& client_;
    const std::shared_ptr<Stream> stream_;
  };
  auto stream = std::make_shared<Stream>(std::move(request), std::move(callbacks));
  {
    base::MutexLock lock(mutex_);
    streams_.push_back(stream);
  }
  worker_.Post([this] { Pump(); });
  return std::make_unique<Handle>(*this, std::move(stream));
}

}  // namespace berth::store::etcd::testing
