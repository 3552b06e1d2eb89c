#include "store/etcd/calls_dispatcher.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/go_text.h"

namespace berth::store::etcd::wire {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLoginPause{5};
constexpr std::chrono::milliseconds kDrainPoll{20};

}  // namespace

std::chrono::system_clock::time_point ForGrpc(TimePoint deadline) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline -
                                                                         steady_clock::now());
}

void Call::Complete() { dispatcher_.Completed(std::unique_ptr<Call>(this)); }

Dispatcher::Dispatcher(Options options, Pool& pool, CallQueue& queue, base::Logger& log)
    : options_(std::move(options)), pool_(pool), queue_(queue), log_(log) {}

void Dispatcher::Start(std::unique_ptr<Call> call) {
  call->deadline_ = steady_clock::now() + options_.call_timeout;
  Dispatch(std::move(call));
}

void Dispatcher::Dispatch(std::unique_ptr<Call> call) {
  if (Endpoint* endpoint = pool_.Pick(); endpoint != nullptr && !Closing()) {
    Launch(std::move(call), *endpoint);
    return;
  }
  {
    base::MutexLock lock(mutex_);
    parked_.push_back(std::move(call));
  }
  on_waiting_();
}

void Dispatcher::Launch(std::unique_ptr<Call> call, Endpoint& endpoint) {
  if (call->deadline_ <= steady_clock::now()) {
    GiveUp(std::move(call));
    return;
  }
  call->endpoint_ = &endpoint;
  call->context.emplace();
  grpc::ClientContext& context = *call->context;
  // A member that is cut off from the others then answers at once instead of after seven seconds.
  context.AddMetadata("hasleader", "true");
  if (call->with_token_) call->login_ = AddToken(context);
  TimePoint deadline = call->deadline_;
  // A read leaves time for another endpoint. A write has only one attempt once it was sent.
  if (!call->write_ && pool_.HasOther(endpoint)) {
    deadline -= (deadline - steady_clock::now()) / 2;
  }
  context.set_deadline(ForGrpc(deadline));
  queue_.Enter(*call);
  Call* sent = call.release();  // Returns through Complete, perhaps before Send returns.
  sent->Send(endpoint.NextLine(), queue_.Grpc());
}

void Dispatcher::Completed(std::unique_ptr<Call> call) {
  if (!call->status.ok()) {
    Failed(std::move(call));
    return;
  }
  call->endpoint_->answered.store(true, std::memory_order_relaxed);
  if (pool_.IsOurs(call->Header())) {
    call->Succeed();
    return;
  }
  const std::string why = pool_.Expel(*call->endpoint_, call->Header());
  // The outcome is ambiguous, because it may be our own cluster, restored from a backup.
  call->Fail({.error = {.reason = base::Reason::kServiceUnavailable,
                        .message = fmt::format("etcd at {}: {}", call->endpoint_->Url().text, why)},
              .ambiguous = call->write_,
              .never_sent = false,
              .code = grpc::StatusCode::FAILED_PRECONDITION,
              .text = why});
}

void Dispatcher::Failed(std::unique_ptr<Call> call) {
  const bool sent = WasSent(call->status, call->context->peer());
  call->ever_sent_ = call->ever_sent_ || sent;
  const Verdict verdict = Judge(call->status, sent, call->write_);
  CallError error = MakeCallError(call->status, sent, call->write_, call->endpoint_->Url().text);
  error.never_sent = !call->ever_sent_;
  const bool closing = Closing();
  if (closing) error.error.message += " (the client is closing)";
  if (verdict.endpoint_ill && !closing) {
    pool_.PutAside(*call->endpoint_, Explain(call->status));
  }
  if (verdict.login && call->with_token_ && HasUser() && !call->logged_in_again_) {
    RepeatAfterLogin(std::move(call), std::move(error));
  } else if (verdict.repeatable && !closing && steady_clock::now() < call->deadline_) {
    Dispatch(std::move(call));
  } else {
    call->Fail(std::move(error));
  }
}

void Dispatcher::RepeatAfterLogin(std::unique_ptr<Call> call, CallError error) {
  call->logged_in_again_ = true;
  const uint64_t stale = call->login_;
  // std::function needs a copyable target.
  auto waiting = std::make_shared<std::unique_ptr<Call>>(std::move(call));
  Renew(stale, [this, waiting, error = std::move(error)](const base::Error* why) mutable {
    if (why == nullptr) {
      Dispatch(std::move(*waiting));
    } else {
      error.error = *why;
      (*waiting)->Fail(std::move(error));
    }
  });
}

bool Dispatcher::Closing() const {
  base::MutexLock lock(mutex_);
  return closing_;
}

void Dispatcher::Resume() {
  for (;;) {
    Endpoint* endpoint = pool_.Pick();
    std::unique_ptr<Call> next;
    {
      base::MutexLock lock(mutex_);
      if (endpoint == nullptr || parked_.empty() || closing_) return;
      next = std::move(parked_.front());
      parked_.pop_front();
    }
    Launch(std::move(next), *endpoint);
  }
}

void Dispatcher::Expire(TimePoint now) {
  std::vector<std::unique_ptr<Call>> over;
  const bool replaced = pool_.AllStrangers();
  {
    base::MutexLock lock(mutex_);
    std::deque<std::unique_ptr<Call>> waiting;
    for (std::unique_ptr<Call>& call : parked_) {
      const bool ends = closing_ || replaced || call->deadline_ <= now;
      if (ends) {
        over.push_back(std::move(call));
      } else {
        waiting.push_back(std::move(call));
      }
    }
    parked_.swap(waiting);
  }
  for (std::unique_ptr<Call>& call : over) GiveUp(std::move(call));
}

void Dispatcher::GiveUp(std::unique_ptr<Call> call) {
  const std::string trouble = pool_.TroubleText();
  const std::string text = Closing()         ? "the client is closing"
                           : trouble.empty() ? "no time is left"
                                             : "no endpoint can be used: " + trouble;
  call->Fail({.error = {.reason = base::Reason::kServiceUnavailable, .message = "etcd: " + text},
              .ambiguous = false,
              .never_sent = !call->ever_sent_,
              .code = grpc::StatusCode::UNAVAILABLE,
              .text = text});
}

TimePoint Dispatcher::NextExpiry() const {
  base::MutexLock lock(mutex_);
  TimePoint next = TimePoint::max();
  for (const auto& call : parked_) next = std::min(next, call->deadline_);
  return next;
}

void Dispatcher::Close() {
  {
    base::MutexLock lock(mutex_);
    closing_ = true;
  }
  queue_.CancelAll();
  // A reply may start another call, which then waits here.
  bool idle = false;
  while (!idle) {
    Expire(TimePoint::max());
    idle = queue_.AwaitIdle(kDrainPoll);
    base::MutexLock lock(mutex_);
    idle = idle && parked_.empty();
  }
}

// --- Tokens --------------------------------------------------------------------------------------

uint64_t Dispatcher::AddToken(grpc::ClientContext& context) {
  if (!HasUser()) return 0;
  std::shared_ptr<const std::string> token;
  uint64_t login = 0;
  {
    base::MutexLock lock(mutex_);
    token = token_;
    login = login_;
  }
  if (token != nullptr) context.AddMetadata("token", *token);
  return login;
}

void Dispatcher::Renew(uint64_t stale, std::function<void(const base::Error*)> done) {
  {
    base::MutexLock lock(mutex_);
    const bool wait = steady_clock::now() < next_login_;
    if (logging_in_ || (login_ == stale && !wait)) {
      want_token_.push_back(std::move(done));
      if (logging_in_) return;
      logging_in_ = true;
      lock.Unlock();
      StartLogin();
      return;
    }
    if (!login_error_.message.empty()) {
      const base::Error error = login_error_;
      lock.Unlock();
      done(&error);
      return;
    }
  }
  done(nullptr);  // Another call has renewed it meanwhile.
}

void Dispatcher::StartLogin() {
  etcdserverpb::AuthenticateRequest request;
  request.set_name(options_.user);
  request.set_password(options_.password);
  // A login may be repeated without harm, so it counts as a read.
  Start(std::make_unique<UnaryCall<etcdserverpb::Auth::Stub, etcdserverpb::AuthenticateRequest,
                                   etcdserverpb::AuthenticateResponse>>(
      *this, /*write=*/false, /*with_token=*/false, &Line::auth,
      &etcdserverpb::Auth::Stub::PrepareAsyncAuthenticate, std::move(request),
      [this](const tl::expected<etcdserverpb::AuthenticateResponse, CallError>& answer) {
        LoggedIn(answer);
      }));
}

void Dispatcher::LoggedIn(
    const tl::expected<etcdserverpb::AuthenticateResponse, CallError>& answer) {
  std::vector<std::function<void(const base::Error*)>> waiting;
  base::Error error;
  bool first = false;  // Connect returns the error of the first login.
  {
    base::MutexLock lock(mutex_);
    first = ++login_ == 1;
    logging_in_ = false;
    waiting.swap(want_token_);
    login_error_ = {};
    next_login_ = {};
    token_.reset();
    if (answer) {
      token_ = std::make_shared<const std::string>(answer->token());
    } else if (EtcdText(answer.error().text) == "authentication is not enabled") {
      log_.Warn("etcd has authentication switched off; the user is not needed",
                {{"user", options_.user}});
    } else {
      login_error_ = answer.error().error;
      login_error_.message = fmt::format("cannot log in as {}: {}", base::GoQuoted(options_.user),
                                         login_error_.message);
      const int code = answer.error().code;
      const bool refused =
          code != grpc::StatusCode::UNAVAILABLE && code != grpc::StatusCode::DEADLINE_EXCEEDED;
      if (refused) next_login_ = steady_clock::now() + kLoginPause;
    }
    error = login_error_;
  }
  if (!error.message.empty() && !first) {
    log_.Warn("login at etcd failed", {{"why", error.message}});
  }
  for (const auto& done : waiting) done(error.message.empty() ? nullptr : &error);
}

base::Result<void> Dispatcher::Login() {
  if (!HasUser()) return {};
  std::promise<base::Result<void>> outcome;
  Renew(0, [&](const base::Error* why) {
    outcome.set_value(why == nullptr ? base::Result<void>() : tl::unexpected(*why));
  });
  return outcome.get_future().get();
}

}  // namespace berth::store::etcd::wire
