#include "http/io_thread.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>

namespace berth::http {
namespace {

constexpr size_t kReadBuffer = size_t{64} << 10;
constexpr size_t kWriteBuffer = size_t{128} << 10;

}  // namespace

IoThread::IoThread(const ServerShared& shared)
    : shared_(shared),
      work_(boost::asio::make_work_guard(io_)),
      timer_(io_),
      mailbox_(std::make_shared<Mailbox>(
          *this, [this] { boost::asio::post(io_, [this] { RunMailbox(); }); })),
      env_{.limits = shared.options.limits,
           .clock = shared.clock,
           .on_error = shared.options.on_error,
           .counters = counters_,
           .bodies = shared.bodies,
           .answers = shared.answers,
           .date = date_,
           .mailbox = mailbox_},
      read_buffer_(kReadBuffer) {
  write_buffer_.reserve(kWriteBuffer);
}

IoThread::~IoThread() {
  mailbox_->Close();
  if (thread_.joinable()) Stop();
}

void IoThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void IoThread::Run() {
  mailbox_->Open();
  io_.run();
}

void IoThread::Stop() {
  if (!thread_.joinable()) return;
  mailbox_->Call([this] { CloseAll(); });
  thread_.join();
}

void IoThread::CloseAll() {
  while (!connections_.empty()) {
    const auto connection = connections_.begin()->second;
    connection->Close();
  }
  mailbox_->Close();
  timer_.cancel();
  work_.reset();  // The thread ends when the last wait has been cancelled.
}

void IoThread::Drain() {
  mailbox_->Call([this] {
    draining_ = true;
    for (auto& [id, connection] : connections_) connection->Drain();
  });
}

// --- connections ---------------------------------------------------------------------------------

void IoThread::Adopt(UniqueFd socket, std::string address, std::shared_ptr<const TlsContext> tls) {
  load_.fetch_add(1, std::memory_order_relaxed);
  // The shared_ptr makes the function object copyable. It closes the socket if the function is
  // never called.
  auto kept = std::make_shared<UniqueFd>(std::move(socket));
  mailbox_->Call([this, kept, address = std::move(address), tls = std::move(tls)]() mutable {
    auto connection = std::make_shared<Connection>(*this, ++last_id_, std::move(*kept),
                                                   std::move(address), std::move(tls));
    connections_.emplace(connection->id(), connection);
    counters_.connections.Add();
    counters_.connections_now.Add();
    if (draining_) connection->Drain();
    connection->Start();
  });
}

void IoThread::Remove(Connection& connection) {
  if (connection.armed) deadlines_.erase({*connection.armed, connection.id()});
  connection.armed.reset();
  if (connections_.erase(connection.id()) == 0) return;
  counters_.connections_now.Subtract();
  load_.fetch_sub(1, std::memory_order_relaxed);
  shared_.on_removed();
}

void IoThread::OnFinish(StreamKey key, Response response) {
  const auto found = connections_.find(key.connection);
  if (found != connections_.end()) found->second->Finish(key.stream, std::move(response));
}

void IoThread::OnStream(StreamKey key, Response head, std::unique_ptr<Source> source) {
  const auto found = connections_.find(key.connection);
  if (found == connections_.end()) return;
  found->second->Stream(key.stream, std::move(head), std::move(source));
}

// --- turns ---------------------------------------------------------------------------------------

void IoThread::RunMailbox() {
  mailbox_->RunAll();
  RunTurns();
}

void IoThread::Enqueue(Connection& connection) {
  if (connection.queued) return;
  connection.queued = true;
  turns_.push_back(connection.shared_from_this());
  if (turns_posted_) return;
  turns_posted_ = true;
  boost::asio::post(io_, [this] {
    turns_posted_ = false;
    RunTurns();
  });
}

void IoThread::RunTurns() {
  std::vector<std::shared_ptr<Connection>> turns;
  turns.swap(turns_);
  for (const auto& connection : turns) {
    connection->queued = false;
    connection->Turn();
  }
  // The capacity is kept for the next time.
  if (turns_.empty()) {
    turns.clear();
    turns_.swap(turns);
  }
}

// --- deadlines -----------------------------------------------------------------------------------

void IoThread::Arm(Connection& connection, base::SteadyTime deadline) {
  if (connection.armed) deadlines_.erase({*connection.armed, connection.id()});
  connection.armed = deadline;
  deadlines_.emplace(deadline, connection.id());
  SetTimer();
}

void IoThread::SetTimer() {
  if (deadlines_.empty()) return;
  const base::SteadyTime first = deadlines_.begin()->first;
  if (timer_at_ && *timer_at_ <= first) return;
  timer_at_ = first;
  const auto wait = std::max(first - shared_.clock.Steady(), std::chrono::nanoseconds(0));
  timer_.expires_after(wait);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) OnTimer();
  });
}

void IoThread::OnTimer() {
  timer_at_.reset();
  const base::SteadyTime now = shared_.clock.Steady();
  // Each connection gets one call. One that sets a deadline in the past again must not delay the
  // others.
  std::vector<std::shared_ptr<Connection>> due;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto found = connections_.find(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    if (found == connections_.end()) continue;
    found->second->armed.reset();
    due.push_back(found->second);
  }
  for (const std::shared_ptr<Connection>& connection : due) {
    if (connections_.contains(connection->id())) connection->OnTime(now);
  }
  SetTimer();
}

}  // namespace berth::http
