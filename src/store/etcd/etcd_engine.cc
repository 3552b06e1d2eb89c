#include "store/etcd/etcd_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "store/check.h"
#include "store/etcd/epoch.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_committer.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/etcd_feed.h"
#include "store/etcd/etcd_housekeeper.h"
#include "store/etcd/etcd_past.h"
#include "store/etcd/etcd_reader.h"
#include "store/etcd/explain.h"
#include "store/etcd/grouping.h"
#include "store/etcd/opening.h"
#include "store/etcd/ticker.h"
#include "store/event_ring.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// Number of pairs of key and revision to remember, 8 bytes each.
constexpr size_t kKnownRevisions = size_t{1} << 19;

/// How long a closing engine waits for what is in flight.
constexpr std::chrono::milliseconds kDrain{2000};

/// The parts of the engine and how they are connected. Everything a part refers to is declared
/// before it. The client is destroyed first when the engine closes, because its replies refer to
/// the parts.
class EtcdEngineImpl final : public EtcdEngine {
 public:
  EtcdEngineImpl(std::unique_ptr<Client> client, const EtcdOptions& options, SlotCodec slots,
                 const Opened& opened, base::Logger& log, const base::Clock& clock,
                 base::Random& random, const std::string& id);
  ~EtcdEngineImpl() override;
  EtcdEngineImpl(const EtcdEngineImpl&) = delete;
  EtcdEngineImpl& operator=(const EtcdEngineImpl&) = delete;

  /// Puts the epoch key and starts all parts at its revision.
  base::Result<void> Begin(const Opened& opened);

  void Get(std::string key, Done<std::optional<Entry>> done) override {
    reader_->Get(key, std::move(done));
  }
  void Scan(ScanRequest request, Done<ScanPage> done) override {
    reader_->Scan(std::move(request), std::move(done));
  }
  void Commit(Txn txn, std::function<void(TxnReply)> done) override {
    committer_->Commit(std::move(txn), std::move(done));
  }
  std::unique_ptr<Watch> Follow(Revision after, std::function<void()> wake) override {
    feed_->Start();
    return ring_->Follow(after, std::move(wake));
  }
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override {
    if (const auto stopped = status_.ReadStop()) return tl::unexpected(*stopped);
    // A store that was wiped begins anew with its marker. What was wiped has no events.
    const int64_t mod = layout_.revisions.Of(request.after).mod;
    const bool before = mod > 0 && mod + 1 < created_;
    const Revision compacted =
        before ? std::max(Compacted(), layout_.revisions.Head(created_ - 1)) : Compacted();
    if (request.after < compacted) {
      return tl::unexpected(CompactedError(request.after, compacted));
    }
    return past_.ReadHistory(request);
  }
  void Current(Done<Revision> done) override { reader_->Current(std::move(done)); }
  void RequestProgress() override { ticker_.Request(); }
  void Compact(Revision upto, Done<void> done) override;
  Health GetHealth() const override { return status_.Get(); }
  size_t MaxTxnItems() const override { return SureItems(options_.max_txn_ops); }
  Revision Compacted() const override { return reader_->Compacted(); }

 private:
  size_t Lanes() const {
    return options_.group ? options_.max_in_flight : options_.max_in_flight_ungrouped;
  }
  void NoteCompacted(Revision upto);
  void KeepNote();

  const EtcdOptions options_;
  const int64_t created_;  // The revision of the marker's creation.
  const Layout layout_;
  KnownRevisions known_;
  Status status_;
  TimeLine time_line_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Client> client_;
  const Context context_;
  Epoch epoch_;
  Ticker ticker_;
  Past past_;
  std::unique_ptr<EventRing> ring_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Housekeeper> housekeeper_;
};

EtcdEngineImpl::EtcdEngineImpl(std::unique_ptr<Client> client, const EtcdOptions& options,
                               SlotCodec slots, const Opened& opened, base::Logger& log,
                               const base::Clock& clock, base::Random& random,
                               const std::string& id)
    : options_(options),
      created_(opened.marker.created),
      layout_{.keys = KeyMap(options.prefix),
              .revisions = Revisions(opened.marker.marker.base),
              .slots = std::move(slots),
              .max_txn_ops = options.max_txn_ops},
      known_(kKnownRevisions, random.Next()),
      status_(log, options.stopped),
      time_line_(layout_.keys, id, layout_.keys.ToEtcd(kProcessFencePrefix) + id + "/"),
      client_(std::move(client)),
      context_{.client = *client_,
               .layout = layout_,
               .known = known_,
               .status = status_,
               .time_line = time_line_,
               .log = log,
               .clock = clock,
               .stop = stop_},
      epoch_(context_, id, Lanes()),
      ticker_(context_),
      past_(context_, ticker_, opened.marker.created) {}

base::Result<void> EtcdEngineImpl::Begin(const Opened& opened) {
  const auto epoch = epoch_.Create(layout_.keys.ToEtcd(kMarkerKey), opened.marker.mod);
  if (!epoch) return tl::unexpected(epoch.error());
  time_line_.See(epoch_.FirstReceipt(*epoch));
  status_.Saw(*epoch);
  Revision compacted = layout_.revisions.Base();
  if (opened.compacted > 0) compacted = layout_.revisions.Head(opened.compacted);
  // The epoch key has an event at the epoch, so that history up to that revision has an end
  // (past.h).
  ring_ = std::make_unique<EventRing>(layout_.revisions.Head(*epoch), options_.ring_bytes, &past_);
  ring_->SetCompacted(compacted);
  reader_ = std::make_unique<Reader>(context_, past_, opened.marker.created, compacted);
  committer_ = std::make_unique<Committer>(context_, epoch_,
                                           CommitterOptions{.group = options_.group,
                                                            .lanes = Lanes(),
                                                            .max_waiting = options_.max_waiting,
                                                            .timeout = options_.commit_timeout,
                                                            .metrics = options_.metrics},
                                           opened.marker, *epoch);
  feed_ = std::make_unique<Feed>(context_, *ring_, opened.marker.marker, *epoch);
  housekeeper_ = std::make_unique<Housekeeper>(
      context_, epoch_, ticker_, options_.compact_interval,
      [this](Revision upto) { NoteCompacted(upto); }, [this] { KeepNote(); });
  return {};
}

EtcdEngineImpl::~EtcdEngineImpl() {
  if (committer_) committer_->Drain(kDrain);
  stop_ = true;
  if (committer_) {
    committer_->End();
    housekeeper_->End();
    feed_->End();
    reader_->End();
    KeepNote();
    if (status_.Get().writable) epoch_.Remove();
  }
  client_.reset();
}

void EtcdEngineImpl::KeepNote() {
  if (!options_.keep_note) return;
  options_.keep_note({.prefix = options_.prefix,
                      .base = layout_.revisions.Base(),
                      .revision = layout_.revisions.Head(status_.Seen()),
                      .witness = time_line_.Newest()});
}

void EtcdEngineImpl::NoteCompacted(Revision upto) {
  reader_->SetCompacted(upto);
  ring_->SetCompacted(upto);
}

void EtcdEngineImpl::Compact(Revision upto, Done<void> done) {
  reader_->Current([this, upto, done = std::move(done)](base::Result<Revision> current) {
    if (!current) return done(tl::unexpected(current.error()));
    if (upto > *current) return done(tl::unexpected(FutureError(upto, *current)));
    const int64_t mod = layout_.revisions.LastWithin(upto);
    if (mod < 1 || upto <= reader_->Compacted() || stop_) return done({});
    pb::CompactionRequest request;
    request.set_revision(mod);
    client_->Compact(request, [this, upto, done](auto reply) {
      if (!reply && !IsCompacted(reply.error())) return done(tl::unexpected(reply.error().error));
      NoteCompacted(upto);
      done({});
    });
  });
}

}  // namespace

base::Result<std::unique_ptr<EtcdEngine>> EtcdEngine::Open(const ClientOptions& client,
                                                           const EtcdOptions& options,
                                                           SlotCodec slots, base::Logger& log,
                                                           const base::Clock& clock) {
  if (auto error = CheckOptions(options)) return tl::unexpected(*error);
  auto connected = Client::Connect(client, log, clock);
  if (!connected) return tl::unexpected(connected.error());
  return OpenOn(*std::move(connected), options, std::move(slots), log, clock);
}

base::Result<std::unique_ptr<EtcdEngine>> EtcdEngine::OpenOn(std::unique_ptr<Client> client,
                                                             const EtcdOptions& options,
                                                             SlotCodec slots, base::Logger& log,
                                                             const base::Clock& clock) {
  if (auto error = CheckOptions(options)) return tl::unexpected(*error);
  const auto opened = ReadOrCreateMarker(*client, options, log);
  if (!opened) return tl::unexpected(opened.error());
  base::SeededRandom random = base::SeededRandom::FromKernel();
  auto engine =
      std::make_unique<EtcdEngineImpl>(std::move(client), options, std::move(slots), *opened, log,
                                       clock, random, fmt::format("{:016x}", random.Next()));
  if (auto begun = engine->Begin(*opened); !begun) return tl::unexpected(begun.error());
  return engine;
}

}  // namespace berth::store::etcd
