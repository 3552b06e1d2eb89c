// One io thread: its connections, their deadlines, its mailbox. All functions are called on that
// thread, except where a comment says otherwise.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/counters.h"
#include "http/head.h"
#include "http/mailbox.h"
#include "http/protocol.h"
#include "http/server.h"

namespace berth::http {

/// The objects that all io threads of a server share. They must outlive the threads.
struct ServerShared {
  const ServerOptions& options;
  const Handler& handler;
  base::Logger& log;
  const base::Clock& clock;
  BodyBudget& bodies;
  BodyBudget& answers;
  /// Called when a connection has been removed.
  std::function<void()> on_removed;
};

class IoThread final : public MailboxOwner {
 public:
  explicit IoThread(const ServerShared& shared);
  ~IoThread() override;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  // --- any thread ---

  void Start();
  /// Ends all connections and the thread. Start must have been called.
  void Stop();
  void Drain();
  /// Takes over a connection. Counts it in load() at once, so that the next one may go to another
  /// thread.
  void Adopt(UniqueFd socket, std::string address, std::shared_ptr<const TlsContext> tls);
  size_t load() const { return load_.load(std::memory_order_relaxed); }
  const Counters& counters() const { return counters_; }
  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

  // --- for connections ---

  boost::asio::io_context& io() { return io_; }
  ProtocolEnv& env() { return env_; }
  const Handler& handler() const { return shared_.handler; }
  base::Logger& log() { return shared_.log; }
  /// These buffers are shared by all connections and hold data only during a call. Connections hold
  /// no buffers while they wait.
  std::span<char> read_buffer() { return read_buffer_; }
  std::string& write_buffer() { return write_buffer_; }
  /// Makes the thread call Connection::Turn soon.
  void Enqueue(Connection& connection);
  /// Makes the thread call Connection::OnTime at `deadline`, in place of any earlier request.
  void Arm(Connection& connection, base::SteadyTime deadline);
  void Remove(Connection& connection);

 private:
  void OnFinish(StreamKey key, Response response) override;
  void OnStream(StreamKey key, Response head, std::unique_ptr<Source> source) override;

  void Run();
  void RunMailbox();
  void RunTurns();
  void SetTimer();
  void OnTimer();
  void CloseAll();

  const ServerShared& shared_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<Mailbox> mailbox_;
  Counters counters_;
  DateText date_;
  ProtocolEnv env_;
  std::atomic<size_t> load_{0};
  std::thread thread_;

  std::vector<char> read_buffer_;
  std::string write_buffer_;
  uint64_t last_id_ = 0;
  bool draining_ = false;
  bool turns_posted_ = false;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> turns_;
  absl::btree_set<std::pair<base::SteadyTime, uint64_t>> deadlines_;
  std::optional<base::SteadyTime> timer_at_;
};

}  // namespace berth::http
