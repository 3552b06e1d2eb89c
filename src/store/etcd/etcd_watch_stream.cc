#include "store/etcd/etcd_watch_stream.h"

#include <fmt/core.h>
#include <grpcpp/completion_queue.h>

#include <future>
#include <utility>

#include "store/etcd/calls_error.h"
#include "store/etcd/channel.h"

namespace berth::store::etcd::wire {
namespace {

using etcdserverpb::WatchResponse;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStopPoll{20};

/// Returns the status of a watch that etcd cancelled, as if it had been a call.
grpc::Status CancelStatus(const WatchResponse& response) {
  if (response.compact_revision() > 0) {
    return {grpc::StatusCode::OUT_OF_RANGE,
            "etcdserver: mvcc: required revision has been compacted"};
  }
  const std::string& reason = response.cancel_reason();
  return {grpc::StatusCode::CANCELLED, reason.empty() ? "the watch was cancelled" : reason};
}

bool IsLoginRefused(const WatchResponse& response) {
  const grpc::Status status = CancelStatus(response);
  const std::string message = status.error_message();
  // Older servers answer "permission denied" to a token that they do not know.
  return Judge(status, /*sent=*/true, /*write=*/false).login ||
         EtcdText(message) == "permission denied";
}

}  // namespace

std::optional<WatchResponse> FragmentJoiner::Add(WatchResponse response) {
  auto* events = response.mutable_events();
  if (!kept_.empty()) {
    for (auto& event : *events) kept_.Add(std::move(event));
    events->Swap(&kept_);
    kept_.Clear();
  }
  if (!response.fragment()) return response;
  // The last revision may continue in the next fragment; the earlier ones are complete.
  int whole = events->size();
  while (whole > 0 && events->Get(whole - 1).kv().mod_revision() ==
                          events->Get(events->size() - 1).kv().mod_revision()) {
    --whole;
  }
  for (int i = whole; i < events->size(); ++i) kept_.Add(std::move(*events->Mutable(i)));
  events->DeleteSubrange(whole, events->size() - whole);
  if (whole == 0) return std::nullopt;
  response.set_fragment(false);
  return response;
}

void StreamSet::Enter(Stream& stream) {
  base::MutexLock lock(mutex_);
  streams_.insert(&stream);
}

void StreamSet::Leave(Stream& stream) {
  base::MutexLock lock(mutex_);
  streams_.erase(&stream);
  left_.NotifyAll();
}

void StreamSet::Cancel(Stream& stream) {
  base::MutexLock lock(mutex_);
  if (streams_.contains(&stream)) stream.Cancel();
}

void StreamSet::CancelAll() {
  base::MutexLock lock(mutex_);
  for (Stream* stream : streams_) stream->Cancel();
  while (!streams_.empty()) left_.Wait(mutex_);
}

/// The stream on the wire: one operation at a time, and the caller waits for each.
class Stream::Session {
 public:
  Session(Endpoint& endpoint, grpc::ClientContext& context)
      : context_(context), stream_(endpoint.Watch().PrepareAsyncWatch(&context, &queue_)) {}

  ~Session() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool fine = false;
    while (queue_.Next(&tag, &fine)) continue;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool Open(const etcdserverpb::WatchCreateRequest& request, TimePoint deadline) {
    etcdserverpb::WatchRequest first;
    *first.mutable_create_request() = request;
    first.mutable_create_request()->set_fragment(true);
    stream_->StartCall(this);
    if (!Wait(deadline)) return false;
    stream_->Write(first, this);
    return Wait(deadline);
  }

  bool Read(WatchResponse* response, TimePoint deadline) {
    stream_->Read(response, this);
    return Wait(deadline);
  }

  /// Returns why the stream ended.
  grpc::Status Finish() {
    grpc::Status status;
    stream_->Finish(&status, this);
    Wait(TimePoint::max());
    if (!late_) return status;
    return {grpc::StatusCode::DEADLINE_EXCEEDED, "the watch was not created in time"};
  }

 private:
  bool Wait(TimePoint deadline) {
    void* tag = nullptr;
    bool fine = false;
    if (deadline != TimePoint::max() &&
        queue_.AsyncNext(&tag, &fine, ForGrpc(deadline)) == grpc::CompletionQueue::GOT_EVENT) {
      return fine;
    }
    if (deadline != TimePoint::max()) {
      late_ = true;
      context_.TryCancel();
    }
    queue_.Next(&tag, &fine);
    return fine;
  }

  grpc::ClientContext& context_;
  grpc::CompletionQueue queue_;
  const std::unique_ptr<grpc::ClientAsyncReaderWriter<etcdserverpb::WatchRequest, WatchResponse>>
      stream_;
  bool late_ = false;
};

Stream::Stream(etcdserverpb::WatchCreateRequest request, WatchCallbacks callbacks, Pool& pool,
               Dispatcher& dispatcher, std::shared_ptr<StreamSet> set,
               std::chrono::milliseconds open_timeout)
    : request_(std::move(request)),
      callbacks_(std::move(callbacks)),
      pool_(pool),
      dispatcher_(dispatcher),
      set_(std::move(set)),
      open_timeout_(open_timeout) {
  set_->Enter(*this);
  thread_ = std::thread([this] { Run(); });
}

Stream::~Stream() {
  set_->Cancel(*this);
  thread_.join();
}

void Stream::Cancel() {
  stop_.store(true);
  {
    base::MutexLock lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }
  pool_.Wake();
}

void Stream::Run() {
  callbacks_.on_end(Follow());
  set_->Leave(*this);
}

CallError Stream::Follow() {
  const TimePoint deadline = steady_clock::now() + open_timeout_;
  CallError last = {.error = {.reason = base::Reason::kServiceUnavailable, .message = {}}};
  last.code = grpc::StatusCode::UNAVAILABLE;
  bool may_log_in = dispatcher_.HasUser();
  while (Endpoint* endpoint = pool_.AwaitPick(deadline, stop_)) {
    uint64_t login = 0;
    End end = Attempt(*endpoint, deadline, may_log_in, &login);
    last = std::move(end.error);
    if (end.log_in) {
      may_log_in = false;
      if (!RenewToken(login, &last)) return last;
    } else if (!end.again || steady_clock::now() >= deadline) {
      break;
    }
  }
  if (stop_.load()) {
    last.error.message = "the watch was cancelled";
    last.code = grpc::StatusCode::CANCELLED;
  } else if (last.error.message.empty()) {
    last.error.message = "etcd: no endpoint can be used: " + pool_.TroubleText();
  }
  return last;
}

bool Stream::RenewToken(uint64_t stale, CallError* error) {
  auto outcome = std::make_shared<std::promise<std::optional<base::Error>>>();
  std::future<std::optional<base::Error>> answer = outcome->get_future();
  dispatcher_.Renew(stale, [outcome](const base::Error* why) {
    outcome->set_value(why != nullptr ? std::optional(*why) : std::nullopt);
  });
  while (answer.wait_for(kStopPoll) != std::future_status::ready) {
    if (stop_.load()) return true;  // Follow notices it.
  }
  std::optional<base::Error> why = answer.get();
  if (why) error->error = std::move(*why);
  return !why;
}

Stream::End Stream::Attempt(Endpoint& endpoint, TimePoint deadline, bool may_log_in,
                            uint64_t* login) {
  grpc::ClientContext context;
  context.AddMetadata("hasleader", "true");
  *login = dispatcher_.AddToken(context);
  // The other connections decide whether the endpoint is healthy; this one may still be connecting.
  context.set_wait_for_ready(true);
  if (pool_.HasOther(endpoint)) deadline -= (deadline - steady_clock::now()) / 2;
  {
    base::MutexLock lock(mutex_);
    context_ = &context;
    if (stop_.load()) context.TryCancel();
  }
  End end;
  {
    Session session(endpoint, context);
    FragmentJoiner joiner;
    bool on = session.Open(request_, deadline);
    for (bool more = on; more;) {
      WatchResponse response;
      on = session.Read(&response, end.created ? TimePoint::max() : deadline);
      more = on && Take(std::move(response), endpoint, joiner, may_log_in, &end);
    }
    if (on) context.TryCancel();  // This side ended it.
    const grpc::Status status = session.Finish();
    if (!on) Lost(status, WasSent(status, context.peer()), endpoint, may_log_in, &end);
  }
  base::MutexLock lock(mutex_);
  context_ = nullptr;
  return end;
}

bool Stream::Take(WatchResponse response, Endpoint& endpoint, FragmentJoiner& joiner,
                  bool may_log_in, End* end) {
  const std::string& where = endpoint.Url().text;
  endpoint.answered.store(true, std::memory_order_relaxed);
  if (!pool_.IsOurs(response.header())) {
    const std::string why = pool_.Expel(endpoint, response.header());
    end->error = MakeCallError({grpc::StatusCode::FAILED_PRECONDITION, why}, true, false, where);
    end->again = !end->created;
    return false;
  }
  const bool cancelled = response.canceled();
  if (cancelled) {
    end->error = MakeCallError(CancelStatus(response), true, false, where);
    end->log_in = may_log_in && !end->created && IsLoginRefused(response);
    if (end->log_in) return false;
  }
  end->created = end->created || response.created();
  if (auto whole = joiner.Add(std::move(response))) callbacks_.on_response(std::move(*whole));
  return !cancelled;
}

void Stream::Lost(const grpc::Status& status, bool sent, Endpoint& endpoint, bool may_log_in,
                  End* end) {
  const Verdict verdict = Judge(status, sent, /*write=*/false);
  end->error = MakeCallError(status, sent, /*write=*/false, endpoint.Url().text);
  end->again = !end->created && verdict.repeatable;
  end->log_in = !end->created && verdict.login && may_log_in;
  if (verdict.endpoint_ill && !stop_.load()) pool_.PutAside(endpoint, Explain(status));
}

}  // namespace berth::store::etcd::wire
