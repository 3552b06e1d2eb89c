#include "store/etcd/channel_prober.h"

#include <algorithm>
#include <utility>

namespace berth::store::etcd::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kCheckTimeout{3000};    // For an endpoint that was healthy.
constexpr milliseconds kDiagnosisLimit{1000};  // The prober does nothing else meanwhile.
constexpr milliseconds kDiagnosisKept{10'000};

}  // namespace

/// One status call on one line. Unlike other calls it does not require a leader, because its
/// purpose is to learn whether there is one.
class Prober::Check final : public Attempt {
 public:
  Check(Prober& prober, std::shared_ptr<Round> round) : prober_(prober), round_(std::move(round)) {}

  void Start(Line& line, TimePoint deadline) {
    context.emplace();
    context->set_deadline(ForGrpc(deadline));
    prober_.queue_.Enter(*this);
    reader_ = line.maintenance.PrepareAsyncStatus(&*context, {}, &prober_.queue_.Grpc());
    Begin(*reader_, &response);
  }

  void Complete() override {
    const std::unique_ptr<Check> own(this);
    prober_.Checked(*round_, *this);
  }

  std::shared_ptr<Round> SharedRound() const { return round_; }

  etcdserverpb::StatusResponse response;

 private:
  Prober& prober_;
  const std::shared_ptr<Round> round_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<etcdserverpb::StatusResponse>> reader_;
};

Prober::Prober(Pool& pool, CallQueue& queue, Dispatcher& dispatcher, const TlsFiles& files,
               milliseconds connect_timeout, const base::Clock& clock)
    : pool_(pool),
      queue_(queue),
      dispatcher_(dispatcher),
      files_(files),
      connect_timeout_(connect_timeout),
      clock_(clock) {}

Prober::~Prober() { Stop(); }

void Prober::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Prober::Stop() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Prober::Wake() {
  base::MutexLock lock(mutex_);
  woken_ = true;
  wake_.NotifyAll();
}

void Prober::Run() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    std::vector<std::shared_ptr<Round>> done;
    done.swap(done_);
    woken_ = false;
    lock.Unlock();
    for (const auto& round : done) Finish(*round);
    const TimePoint now = steady_clock::now();
    dispatcher_.Expire(now);
    dispatcher_.Resume();
    for (Endpoint* endpoint : pool_.TakeDue(now)) Begin(*endpoint);
    const TimePoint next = std::min(pool_.NextDue(), dispatcher_.NextExpiry());
    lock.Lock();
    if (stopping_ || woken_ || !done_.empty()) continue;
    const auto pause = next - steady_clock::now();
    if (pause.count() > 0)
      wake_.WaitFor(mutex_, std::min<steady_clock::duration>(pause, kCheckTimeout));
  }
}

void Prober::Begin(Endpoint& endpoint) {
  const bool well = pool_.IsWell(endpoint);
  if (!well) endpoint.Reconnect();
  endpoint.answered.store(false, std::memory_order_relaxed);
  const TimePoint deadline =
      steady_clock::now() + (well ? std::min(kCheckTimeout, connect_timeout_) : connect_timeout_);
  auto round = std::make_shared<Round>();
  round->endpoint = &endpoint;
  round->open = endpoint.Lines().size();
  for (const auto& line : endpoint.Lines()) {
    auto check = std::make_unique<Check>(*this, round);
    Check* started = check.release();  // Deletes itself in Complete.
    started->Start(*line, deadline);
  }
}

void Prober::Checked(Round& round, Check& check) {
  base::MutexLock lock(mutex_);
  if (check.status.ok()) {
    round.status = std::move(check.response);
  } else {
    round.failed = true;
    round.failure = check.status;
    round.sent = WasSent(check.status, check.context->peer());
  }
  if (--round.open != 0) return;
  done_.push_back(check.SharedRound());
  wake_.NotifyAll();
}

void Prober::Finish(const Round& round) {
  Checkup checkup;
  if (!round.failed) {
    checkup.answered = true;
    checkup.status = round.status;
    diagnoses_.erase(round.endpoint);
  } else if (round.failure.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED ||
             !round.endpoint->answered.load(std::memory_order_relaxed)) {
    checkup = Explained(round);
  }  // Otherwise it is slow, but it does answer calls.
  pool_.Report(*round.endpoint, checkup, steady_clock::now());
}

Checkup Prober::Explained(const Round& round) {
  Checkup checkup;
  checkup.why = Explain(round.failure);
  checkup.hopeless = round.failure.error_code() == grpc::StatusCode::UNIMPLEMENTED;
  if (round.sent) return checkup;
  const bool refused =
      round.failure.error_message().find("Connection refused") != std::string::npos;
  const TimePoint now = steady_clock::now();
  Diagnosis& known = diagnoses_[round.endpoint];
  if (!refused && (known.at == TimePoint() || now - known.at > kDiagnosisKept)) {
    known.finding = WhyUnreachable(round.endpoint->Url(), files_,
                                   std::min(kDiagnosisLimit, connect_timeout_), clock_.Now());
    known.at = steady_clock::now();
  }
  if (!refused && !known.finding.text.empty()) {
    checkup.why = known.finding.text;
    checkup.hopeless = known.finding.hopeless;
  }
  return checkup;
}

}  // namespace berth::store::etcd::wire
