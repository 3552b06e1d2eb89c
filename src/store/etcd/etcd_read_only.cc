#include "store/etcd/etcd_read_only.h"

#include <atomic>
#include <utility>

#include "base/random.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/etcd_past.h"
#include "store/etcd/etcd_reader.h"
#include "store/etcd/opening.h"
#include "store/etcd/ticker.h"

namespace berth::store::etcd {
namespace {

base::Error ReadOnlyError() {
  return {.reason = base::Reason::kForbidden, .message = "the store is open read-only"};
}

/// A watch that has failed from the beginning.
class NoWatch final : public Watch {
 public:
  base::Result<WatchBatch> Poll(size_t /*max*/) override { return tl::unexpected(ReadOnlyError()); }
};

/// Everything that a part refers to is declared before it. The client is destroyed first, because
/// its replies refer to the parts.
class ReadOnlyEngine final : public EtcdEngine {
 public:
  ReadOnlyEngine(std::unique_ptr<Client> client, const EtcdOptions& options, SlotCodec slots,
                 const Opened& opened, base::Logger& log, const base::Clock& clock)
      : layout_{.keys = KeyMap(options.prefix),
                .revisions = Revisions(opened.marker.marker.base),
                .slots = std::move(slots),
                .max_txn_ops = options.max_txn_ops},
        known_(1, base::SeededRandom::FromKernel().Next()),
        status_(log),
        time_line_(layout_.keys, "", ""),
        client_(std::move(client)),
        context_{.client = *client_,
                 .layout = layout_,
                 .known = known_,
                 .status = status_,
                 .time_line = time_line_,
                 .log = log,
                 .clock = clock,
                 .stop = stop_},
        ticker_(context_),
        past_(context_, ticker_, opened.marker.created),
        reader_(context_, past_, opened.marker.created,
                opened.compacted > 0 ? layout_.revisions.Head(opened.compacted)
                                     : layout_.revisions.Base()) {}
  ~ReadOnlyEngine() override {
    stop_ = true;
    reader_.End();
    client_.reset();
  }
  ReadOnlyEngine(const ReadOnlyEngine&) = delete;
  ReadOnlyEngine& operator=(const ReadOnlyEngine&) = delete;

  void Get(std::string key, Done<std::optional<Entry>> done) override {
    reader_.Get(key, std::move(done));
  }
  void Scan(ScanRequest request, Done<ScanPage> done) override {
    // A state inside an etcd revision comes from a watch, which may need a tick to end.
    const EventPosition position = layout_.revisions.Of(request.at);
    if (request.at && position.slot != kHeadSlot) return done(tl::unexpected(ReadOnlyError()));
    reader_.Scan(std::move(request), std::move(done));
  }
  void Current(Done<Revision> done) override { reader_.Current(std::move(done)); }

  void Commit(Txn /*txn*/, std::function<void(TxnReply)> done) override {
    done({.outcome = Outcome::kRefused, .error = ReadOnlyError()});
  }
  std::unique_ptr<Watch> Follow(Revision /*after*/, std::function<void()> wake) override {
    wake();
    return std::make_unique<NoWatch>();
  }
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& /*request*/) override {
    return tl::unexpected(ReadOnlyError());
  }
  void RequestProgress() override {}
  void Compact(Revision /*upto*/, Done<void> done) override {
    done(tl::unexpected(ReadOnlyError()));
  }
  Health GetHealth() const override { return {.writable = false, .why = ReadOnlyError().message}; }
  Revision Compacted() const override { return reader_.Compacted(); }

 private:
  const Layout layout_;
  KnownRevisions known_;
  Status status_;
  TimeLine time_line_;  // Stays empty, because this engine follows no events.
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Client> client_;
  const Context context_;
  Ticker ticker_;
  Past past_;
  Reader reader_;
};

}  // namespace

base::Result<std::unique_ptr<EtcdEngine>> OpenReadOnly(const ClientOptions& client,
                                                       EtcdOptions options, SlotCodec slots,
                                                       base::Logger& log,
                                                       const base::Clock& clock) {
  options.create = false;
  if (auto error = CheckOptions(options)) return tl::unexpected(*error);
  auto connected = Client::Connect(client, log, clock);
  if (!connected) return tl::unexpected(connected.error());
  const auto opened = ReadOrCreateMarker(**connected, options, log);
  if (!opened) return tl::unexpected(opened.error());
  return std::make_unique<ReadOnlyEngine>(*std::move(connected), options, std::move(slots), *opened,
                                          log, clock);
}

}  // namespace berth::store::etcd
