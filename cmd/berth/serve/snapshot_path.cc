#include "berth/serve/snapshot_path.h"

#include <deque>
#include <string>
#include <utility>

#include "berth/store/open.h"
#include "server/status_body.h"
#include "store/snapshot_file.h"

namespace berth::cli {

/// Passes bytes from the thread that reads the store to the io thread that answers.
class SnapshotPath::Pipe {
 public:
  explicit Pipe(http::Signal& signal) : signal_(signal) {}

  /// Waits while the pipe is full. Returns an error if the client has disconnected.
  base::Result<void> Push(std::string_view bytes) EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      while (waiting_bytes_ >= kMaxWaitingBytes && !abandoned_) room_.Wait(mutex_);
      if (abandoned_) {
        return base::Fail(base::Reason::kServiceUnavailable, "the client has disconnected");
      }
      waiting_bytes_ += bytes.size();
      waiting_.emplace_back(bytes);
    }
    signal_.Notify();
    return {};
  }

  /// Marks the end of the bytes.
  void End(http::Pulled how) EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      end_ = how;
      ended_ = true;
    }
    signal_.Notify();
  }

  http::Pulled Pull(http::Pieces& out, size_t room) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    size_t added = 0;
    while (!waiting_.empty() && added < room) {
      added += waiting_.front().size();
      out.Add(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    waiting_bytes_ -= added;
    room_.NotifyOne();
    if (!waiting_.empty()) return http::Pulled::kMore;
    return ended_ ? end_ : http::Pulled::kWait;
  }

  void Abandon() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    abandoned_ = true;
    room_.NotifyOne();
  }

  bool Ended() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return ended_;
  }

  http::Signal& signal() { return signal_; }

 private:
  http::Signal& signal_;
  base::Mutex mutex_;
  base::CondVar room_;
  std::deque<std::string> waiting_ GUARDED_BY(mutex_);
  size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  http::Pulled end_ GUARDED_BY(mutex_) = http::Pulled::kEnd;
  bool ended_ GUARDED_BY(mutex_) = false;
  bool abandoned_ GUARDED_BY(mutex_) = false;
};

class SnapshotPath::PipeSource final : public http::Source {
 public:
  explicit PipeSource(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  ~PipeSource() override { pipe_->Abandon(); }
  PipeSource(const PipeSource&) = delete;
  PipeSource& operator=(const PipeSource&) = delete;

  http::Pulled Pull(http::Pieces& out, size_t room) override { return pipe_->Pull(out, room); }
  http::Signal* signal() override { return &pipe_->signal(); }

 private:
  const std::shared_ptr<Pipe> pipe_;
};

SnapshotPath::SnapshotPath(store::Engine& engine, std::string source, const base::Clock& clock,
                           base::Logger& log)
    : engine_(engine), source_(std::move(source)), clock_(clock), log_(log) {}

SnapshotPath::~SnapshotPath() {
  base::MutexLock lock(mutex_);
  if (running_) running_->Abandon();
  if (thread_.joinable()) thread_.join();
}

void SnapshotPath::Serve(const server::CallPtr& call) {
  if (call->request.method != "GET") {
    return call->Fail(server::MethodNotAllowedError());
  }
  std::shared_ptr<Pipe> pipe;
  {
    base::MutexLock lock(mutex_);
    if (running_ == nullptr || running_->Ended()) {
      if (thread_.joinable()) thread_.join();
      pipe = std::make_shared<Pipe>(signal_);
      running_ = pipe;
      thread_ = std::thread([this, pipe] { Save(*pipe); });
    }
  }
  if (pipe == nullptr) {
    return call->Fail({.reason = base::Reason::kTooManyRequests,
                       .message = "another snapshot is being saved, please try again later",
                       .details = base::Details{.retry_after_seconds = 1}});
  }
  call->Stream(200, "application/octet-stream", std::make_unique<PipeSource>(pipe));
}

void SnapshotPath::Save(Pipe& pipe) {
  const auto saved = store::SaveSnapshot(
      engine_, [&pipe](std::string_view bytes) { return pipe.Push(bytes); },
      {.source = source_, .normalise = WithoutSlots(), .progress = {}}, clock_);
  if (saved) {
    log_.Info("sent a snapshot", {{"revision", saved->revision.value}, {"keys", saved->keys}});
  } else {
    log_.Warn("could not send a complete snapshot", {{"why", saved.error().message}});
  }
  pipe.End(saved ? http::Pulled::kEnd : http::Pulled::kAbort);
}

}  // namespace berth::cli
