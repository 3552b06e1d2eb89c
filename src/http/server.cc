#include "http/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <future>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "http/io_thread.h"
#include "http/listener.h"
#include "http/transport.h"

namespace berth::http {
namespace {

constexpr int kAcceptsAtOnce = 64;
constexpr int kLargeBlock = 1 << 20;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // When no descriptor is free.
constexpr auto kComplainEvery = std::chrono::seconds(10);

Response PlainError(int code, std::string_view text) {
  return {.code = code,
          .headers = {{"content-type", "text/plain; charset=utf-8"}},
          .body = fmt::format("{}\n", text)};
}

/// Raises the limit of open files as far as the system allows. The usual soft limit is lower than
/// the number of connections that Limits allows.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Handler handler, base::Logger& log, const base::Clock& clock)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        log_(log),
        clock_(clock),
        bodies_(options_.limits.body_memory),
        answers_(options_.limits.answer_memory),
        shared_{.options = options_,
                .handler = handler_,
                .log = log,
                .clock = clock,
                .bodies = bodies_,
                .answers = answers_,
                .on_removed = [this] { OnRemoved(); }} {
    if (!options_.on_error) options_.on_error = PlainError;
    if (options_.io_threads == 0) {
      options_.io_threads = std::max(1U, std::thread::hardware_concurrency());
    }
  }

  base::Result<void> Start();
  uint16_t port() const { return port_; }
  base::Result<void> ReloadTls(const TlsSettings& settings);
  bool Drain(std::chrono::nanoseconds limit);
  void Stop();
  Stats stats() const;

 private:
  /// A listening socket on the first io thread.
  struct Door {
    Door(boost::asio::io_context& io, UniqueFd fd) : socket(io, fd.Release()), pause(io) {}
    boost::asio::posix::stream_descriptor socket;
    boost::asio::steady_timer pause;
  };

  void WaitAtDoor(Door& door);
  void AcceptAll(Door& door);
  void Deal(Accepted accepted);
  void CloseDoors();
  void Complain(std::string_view message);
  void OnRemoved();
  size_t Load() const;

  ServerOptions options_;
  const Handler handler_;
  base::Logger& log_;
  const base::Clock& clock_;
  BodyBudget bodies_;
  BodyBudget answers_;
  const ServerShared shared_;
  uint16_t port_ = 0;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::vector<std::unique_ptr<Door>> doors_;  // Used on the first io thread.
  base::SteadyTime complained_{};             // Used on the first io thread.
  std::atomic<uint64_t> refused_{0};

  base::Mutex mutex_;
  std::shared_ptr<const TlsContext> tls_ GUARDED_BY(mutex_);
  std::atomic<bool> draining_{false};
  base::CondVar removed_;
};

base::Result<void> Server::Impl::Start() {
  if (!threads_.empty()) {
    return base::Fail(base::Reason::kInternalError, "the server has been started before");
  }
  std::signal(SIGPIPE, SIG_IGN);  // In case a library writes with write(2).
  RaiseDescriptorLimit();
  // Makes large bodies return to the system when they are freed. By default glibc raises this limit
  // to up to 32 MiB and keeps the memory that a burst of them took.
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  if (options_.tls) {
    if (auto loaded = ReloadTls(*options_.tls); !loaded) return loaded;
  }
  auto listeners = Listen(options_.addresses, options_.port);
  if (!listeners) return tl::unexpected(listeners.error());
  port_ = listeners->port;
  for (size_t i = 0; i < options_.io_threads; ++i) {
    threads_.push_back(std::make_unique<IoThread>(shared_));
  }
  for (UniqueFd& socket : listeners->sockets) {
    doors_.push_back(std::make_unique<Door>(threads_.front()->io(), std::move(socket)));
    WaitAtDoor(*doors_.back());
  }
  for (const auto& thread : threads_) thread->Start();
  return {};
}

base::Result<void> Server::Impl::ReloadTls(const TlsSettings& settings) {
  if (!options_.tls) {
    return base::Fail(base::Reason::kInvalid, "the server does not serve TLS");
  }
  auto context = TlsContext::Make(settings);
  if (!context) return tl::unexpected(context.error());
  base::MutexLock lock(mutex_);
  tls_ = std::move(*context);
  return {};
}

// --- accepting -----------------------------------------------------------------------------------

void Server::Impl::WaitAtDoor(Door& door) {
  door.socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this, &door](boost::system::error_code error) {
                           if (!error) AcceptAll(door);
                         });
}

void Server::Impl::AcceptAll(Door& door) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    Accepted accepted = Accept(door.socket.native_handle());
    if (accepted.socket.get() >= 0) {
      Deal(std::move(accepted));
      continue;
    }
    if (accepted.error == EMFILE || accepted.error == ENFILE || accepted.error == ENOBUFS ||
        accepted.error == ENOMEM) {
      Complain("cannot accept connections: out of file descriptors or memory");
      door.pause.expires_after(kAcceptPause);
      door.pause.async_wait([this, &door](boost::system::error_code error) {
        if (!error) WaitAtDoor(door);
      });
      return;
    }
    if (accepted.error == EAGAIN) break;
    // Any other error is about a connection that has already ended.
  }
  WaitAtDoor(door);
}

void Server::Impl::Deal(Accepted accepted) {
  IoThread* fewest = threads_.front().get();
  for (const auto& thread : threads_) {
    if (thread->load() < fewest->load()) fewest = thread.get();
  }
  if (Load() >= options_.limits.connections ||
      fewest->load() >= options_.limits.connections_per_thread) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    Complain("too many connections; new ones are closed");
    return;
  }
  std::shared_ptr<const TlsContext> tls;
  {
    base::MutexLock lock(mutex_);
    tls = tls_;
  }
  fewest->Adopt(std::move(accepted.socket), std::move(accepted.address), std::move(tls));
}

void Server::Impl::Complain(std::string_view message) {
  const base::SteadyTime now = clock_.Steady();
  if (complained_ != base::SteadyTime{} && now - complained_ < kComplainEvery) return;
  complained_ = now;
  log_.Warn(message, {{"connections", Load()}});
}

size_t Server::Impl::Load() const {
  size_t sum = 0;
  for (const auto& thread : threads_) sum += thread->load();
  return sum;
}

/// Closes the listening sockets on the first io thread, and waits until that is done.
void Server::Impl::CloseDoors() {
  if (threads_.empty() || threads_.front()->mailbox()->closed()) return;
  auto done = std::make_shared<std::promise<void>>();
  threads_.front()->mailbox()->Call([this, done] {
    for (const auto& door : doors_) {
      boost::system::error_code ignored;
      door->socket.close(ignored);
      door->pause.cancel();
    }
    done->set_value();
  });
  done->get_future().wait();
}

// --- ending --------------------------------------------------------------------------------------

void Server::Impl::OnRemoved() {
  if (!draining_.load(std::memory_order_relaxed)) return;
  base::MutexLock lock(mutex_);
  removed_.NotifyAll();
}

bool Server::Impl::Drain(std::chrono::nanoseconds limit) {
  draining_.store(true, std::memory_order_relaxed);
  CloseDoors();
  for (const auto& thread : threads_) thread->Drain();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  base::MutexLock lock(mutex_);
  while (Load() > 0) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return false;
    // Waits only briefly, because OnRemoved may have read draining_ before it was set.
    removed_.WaitFor(mutex_,
                     std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(20)));
  }
  return true;
}

void Server::Impl::Stop() {
  CloseDoors();
  for (const auto& thread : threads_) thread->Stop();
}

Stats Server::Impl::stats() const {
  Stats sum;
  for (const auto& thread : threads_) {
    const Counters& counters = thread->counters();
    sum.connections_now += counters.connections_now.Get();
    sum.connections += counters.connections.Get();
    sum.handshakes_failed += counters.handshakes_failed.Get();
    sum.requests_http1 += counters.requests_http1.Get();
    sum.requests_http2 += counters.requests_http2.Get();
    sum.requests_bad += counters.requests_bad.Get();
    sum.streams_now += counters.streams_now.Get();
    sum.streams += counters.streams.Get();
    sum.bytes_read += counters.bytes_read.Get();
    sum.bytes_written += counters.bytes_written.Get();
    sum.timeouts += counters.timeouts.Get();
    sum.h2_abuses += counters.h2_abuses.Get();
  }
  sum.connections_refused = refused_.load(std::memory_order_relaxed);
  return sum;
}

// --- Server --------------------------------------------------------------------------------------

Server::Server(ServerOptions options, Handler handler, base::Logger& log, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler), log, clock)) {}

Server::~Server() { Stop(); }

base::Result<void> Server::Start() { return impl_->Start(); }
uint16_t Server::port() const { return impl_->port(); }
base::Result<void> Server::ReloadTls(const TlsSettings& settings) {
  return impl_->ReloadTls(settings);
}
bool Server::Drain(std::chrono::nanoseconds limit) { return impl_->Drain(limit); }
void Server::Stop() { impl_->Stop(); }
Stats Server::stats() const { return impl_->stats(); }

}  // namespace berth::http
