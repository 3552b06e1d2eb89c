#include "store/etcd/etcd_engine.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "store/check.h"
#include "store/etcd/client.h"
#include "store/etcd/committer.h"
#include "store/etcd/context.h"
#include "store/etcd/explain.h"
#include "store/etcd/feed.h"
#include "store/etcd/fence.h"
#include "store/etcd/grouping.h"
#include "store/etcd/housekeeper.h"
#include "store/etcd/opening.h"
#include "store/etcd/past.h"
#include "store/etcd/reader.h"
#include "store/etcd/ticker.h"
#include "store/event_ring.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// Pairs of key and revision to remember, 8 bytes each.
constexpr size_t kKnownRevisions = size_t{1} << 19;

/// How long a closing engine waits for what is under way.
constexpr std::chrono::milliseconds kDrain{2000};

/// The parts and how they hang together. Everything a part refers to is declared before it; the
/// client goes first when the engine closes, since its replies refer to the parts.
class EtcdEngineImpl final : public EtcdEngine {
 public:
  EtcdEngineImpl(std::unique_ptr<Client> client, const EtcdOptions& options, SlotCodec slots,
                 const Opened& opened, base::Logger& log, const base::Clock& clock,
                 base::Random& random);
  ~EtcdEngineImpl() override;
  EtcdEngineImpl(const EtcdEngineImpl&) = delete;
  EtcdEngineImpl& operator=(const EtcdEngineImpl&) = delete;

  /// Puts the fence and starts everything from there.
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
  std::unique_ptr<Watch> StartWatch(WatchRequest request, std::function<void()> wake) override {
    feed_->Start();
    return ring_->Start(std::move(request), std::move(wake));
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

  const EtcdOptions options_;
  const Layout layout_;
  KnownRevisions known_;
  Status status_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Client> client_;
  const Context context_;
  Fence fence_;
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
                               const base::Clock& clock, base::Random& random)
    : options_(options),
      layout_{.keys = KeyMap(options.prefix),
              .revisions = Revisions(opened.marker.marker.base),
              .slots = std::move(slots),
              .max_txn_ops = options.max_txn_ops},
      known_(kKnownRevisions, random.Next()),
      status_(log),
      client_(std::move(client)),
      context_{.client = *client_,
               .layout = layout_,
               .known = known_,
               .status = status_,
               .log = log,
               .clock = clock,
               .stop = stop_},
      fence_(context_, fmt::format("{:016x}", random.Next()), Lanes()),
      ticker_(context_),
      past_(context_, ticker_, opened.marker.created) {}

base::Result<void> EtcdEngineImpl::Begin(const Opened& opened) {
  const auto epoch = fence_.Create(layout_.keys.ToEtcd(kMarkerKey), opened.marker.mod);
  if (!epoch) return tl::unexpected(epoch.error());
  Revision compacted = layout_.revisions.Base();
  if (opened.compacted > 0) compacted = layout_.revisions.Head(opened.compacted);
  // The fence has an event at its epoch, so that history up to there has an end (past.h).
  ring_ = std::make_unique<EventRing>(layout_.revisions.Head(*epoch), options_.ring_bytes, &past_);
  ring_->SetCompacted(compacted);
  reader_ = std::make_unique<Reader>(context_, past_, opened.marker.created, compacted);
  committer_ = std::make_unique<Committer>(context_, fence_,
                                           CommitterOptions{.group = options_.group,
                                                            .lanes = Lanes(),
                                                            .max_waiting = options_.max_waiting,
                                                            .timeout = options_.commit_timeout,
                                                            .metrics = options_.metrics},
                                           opened.marker, *epoch);
  feed_ = std::make_unique<Feed>(context_, *ring_, *epoch);
  housekeeper_ = std::make_unique<Housekeeper>(context_, fence_, ticker_, options_.compact_interval,
                                               [this](Revision upto) { NoteCompacted(upto); });
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
    if (status_.Get().writable) fence_.Remove();
  }
  client_.reset();
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
  const auto opened = ReadOrCreateMarker(*client, options);
  if (!opened) return tl::unexpected(opened.error());
  base::SeededRandom random = base::SeededRandom::FromKernel();
  auto engine = std::make_unique<EtcdEngineImpl>(std::move(client), options, std::move(slots),
                                                 *opened, log, clock, random);
  if (auto begun = engine->Begin(*opened); !begun) return tl::unexpected(begun.error());
  return engine;
}

}  // namespace berth::store::etcd
