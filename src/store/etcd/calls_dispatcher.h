// The path of a unary call. It is sent to the endpoint in use. If it fails there and nothing has
// happened, it is sent to another endpoint, or waits until one is healthy, until its deadline. A
// token that is no longer valid is renewed once for all calls that need it.
//
// Threads: every function may be called from any thread. Replies come on the queue's thread and on
// the Prober's.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/calls_error.h"
#include "store/etcd/calls_queue.h"
#include "store/etcd/channel_pool.h"
#include "store/etcd/etcd_client.h"

namespace berth::store::etcd::wire {

class Dispatcher;

/// A call from its start to its reply, over all attempts. Every call carries the token, except the
/// login itself.
class Call : public Attempt {
 public:
  Call(Dispatcher& dispatcher, bool write, bool with_token)
      : dispatcher_(dispatcher), write_(write), with_token_(with_token) {}

  void Complete() override;

  virtual const etcdserverpb::ResponseHeader& Header() const = 0;
  virtual void Succeed() = 0;
  virtual void Fail(CallError error) = 0;

 protected:
  virtual void Send(Line& line, grpc::CompletionQueue& queue) = 0;

 private:
  friend class Dispatcher;

  Dispatcher& dispatcher_;
  const bool write_;
  const bool with_token_;
  TimePoint deadline_{};
  Endpoint* endpoint_ = nullptr;  // Endpoint of the current attempt.
  uint64_t login_ = 0;            // The login whose token the attempt used.
  bool logged_in_again_ = false;
  bool ever_sent_ = false;
};

class Dispatcher {
 public:
  struct Options {
    std::chrono::milliseconds call_timeout{0};
    std::string user;  // Empty means no login.
    std::string password;
  };

  Dispatcher(Options options, Pool& pool, CallQueue& queue, base::Logger& log);

  void Start(std::unique_ptr<Call> call);

  bool HasUser() const { return !options_.user.empty(); }
  /// Logs in for the first time; later logins happen automatically. Blocks.
  base::Result<void> Login();
  /// Adds the current token to a call that is not one of the dispatcher's. Returns the login's
  /// number.
  uint64_t AddToken(grpc::ClientContext& context) EXCLUDES(mutex_);
  /// Gets a new token after the token of login number `stale` was refused. Then calls `done` with
  /// the reason why there is no token, or with null if there is one.
  void Renew(uint64_t stale, std::function<void(const base::Error*)> done) EXCLUDES(mutex_);

  /// Sends the calls that wait for an endpoint.
  void Resume() EXCLUDES(mutex_);
  /// Fails the waiting calls whose deadline has passed, or all if another cluster has taken the
  /// place of ours.
  void Expire(TimePoint now) EXCLUDES(mutex_);
  TimePoint NextExpiry() const EXCLUDES(mutex_);
  /// Sets the function that is called when a call begins to wait.
  void OnWaiting(std::function<void()> waiting) { on_waiting_ = std::move(waiting); }

  /// Cancels everything and returns when every reply has been given.
  void Close() EXCLUDES(mutex_);

 private:
  friend class Call;

  /// Sends the call to the endpoint in use, or lets it wait for one.
  void Dispatch(std::unique_ptr<Call> call) EXCLUDES(mutex_);
  void Launch(std::unique_ptr<Call> call, Endpoint& endpoint);
  void Completed(std::unique_ptr<Call> call);
  void Failed(std::unique_ptr<Call> call);
  void RepeatAfterLogin(std::unique_ptr<Call> call, CallError error);
  void GiveUp(std::unique_ptr<Call> call);
  bool Closing() const EXCLUDES(mutex_);
  void StartLogin() EXCLUDES(mutex_);
  void LoggedIn(const tl::expected<etcdserverpb::AuthenticateResponse, CallError>& answer)
      EXCLUDES(mutex_);

  const Options options_;
  Pool& pool_;
  CallQueue& queue_;
  base::Logger& log_;
  std::function<void()> on_waiting_;

  mutable base::Mutex mutex_;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::deque<std::unique_ptr<Call>> parked_ GUARDED_BY(mutex_);
  std::shared_ptr<const std::string> token_ GUARDED_BY(mutex_);
  uint64_t login_ GUARDED_BY(mutex_) = 0;  // Counts logins, failed ones included.
  bool logging_in_ GUARDED_BY(mutex_) = false;
  /// Of the last login; an empty message means success.
  base::Error login_error_ GUARDED_BY(mutex_);
  TimePoint next_login_ GUARDED_BY(mutex_){};  // A wrong password is not tried again at once.
  std::vector<std::function<void(const base::Error*)>> want_token_ GUARDED_BY(mutex_);
};

/// A call of one method. `prepare` is a function of a generated stub; `stub` selects that stub of a
/// line.
template <typename Stub, typename Request, typename Response>
class UnaryCall final : public Call {
 public:
  using Prepare = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(
      grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

  UnaryCall(Dispatcher& dispatcher, bool write, bool with_token, Stub Line::* stub, Prepare prepare,
            Request request, Reply<Response> reply)
      : Call(dispatcher, write, with_token),
        stub_(stub),
        prepare_(prepare),
        request_(std::move(request)),
        reply_(std::move(reply)) {}

  const etcdserverpb::ResponseHeader& Header() const override { return response_.header(); }
  void Succeed() override { reply_(std::move(response_)); }
  void Fail(CallError error) override { reply_(tl::unexpected(std::move(error))); }

 protected:
  void Send(Line& line, grpc::CompletionQueue& queue) override {
    response_.Clear();
    reader_ = ((line.*stub_).*prepare_)(&*context, request_, &queue);
    Begin(*reader_, &response_);
  }

 private:
  Stub Line::* const stub_;
  const Prepare prepare_;
  const Request request_;
  Response response_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  const Reply<Response> reply_;
};

/// Converts a deadline for gRPC, whose deadlines are wall-clock times.
std::chrono::system_clock::time_point ForGrpc(TimePoint deadline);

}  // namespace berth::store::etcd::wire
