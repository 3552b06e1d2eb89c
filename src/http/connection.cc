#include "http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "http/gzip.h"
#include "http/http1.h"
#include "http/http2.h"
#include "http/io_thread.h"

namespace berth::http {
namespace {

constexpr size_t kRoom = size_t{64} << 10;              // Output requested per Produce.
constexpr size_t kTurn = size_t{512} << 10;             // Output per turn of a connection.
constexpr size_t kLingerSocketBytes = size_t{8} << 20;  // Read and discarded before closing.

}  // namespace

Connection::Connection(IoThread& thread, uint64_t id, UniqueFd socket, std::string address,
                       std::shared_ptr<const TlsContext> tls)
    : thread_(thread),
      id_(id),
      socket_(thread.io(), socket.Release()),
      tls_(std::move(tls)),
      peer_(std::make_shared<Peer>()) {
  peer_->address = std::move(address);
  since_ = progress_ = thread_.env().clock.Steady();
}

Connection::~Connection() = default;

// --- beginning -----------------------------------------------------------------------------------

void Connection::Start() {
  const int socket = socket_.native_handle();
  transport_ = tls_ == nullptr ? std::make_unique<Transport>(socket)
                               : std::make_unique<Transport>(socket, *tls_);
  Handshake();
}

void Connection::Handshake() {
  switch (transport_->Handshake()) {
    case Transport::Status::kOk:
      Open();
      return;
    case Transport::Status::kWantRead:
      WaitRead();
      break;
    case Transport::Status::kWantWrite:
      WaitWrite();
      break;
    case Transport::Status::kClosed:
    case Transport::Status::kError:
      thread_.env().counters.handshakes_failed.Add();
      thread_.log().Debug("TLS handshake failed",
                          {{"client", peer_->address}, {"error", transport_->error()}});
      if (transport_->AnswerPlainHttp()) {
        BeginClose();
      } else {
        Close();
      }
      return;
  }
  UpdateDeadline();
}

void Connection::Open() {
  phase_ = Phase::kOpen;
  since_ = thread_.env().clock.Steady();
  transport_->Identify(*peer_);
  tls_.reset();
  if (transport_->IsHttp2()) {
    protocol_ = std::make_unique<Http2>(thread_.env(), *this, peer_);
  } else {
    protocol_ = std::make_unique<Http1>(thread_.env(), *this, peer_);
  }
  if (draining_) protocol_->Drain();
  if (transport_->is_tls()) {
    OnReadable();  // The first request may have arrived with the end of the handshake.
  } else {
    Pump();
  }
}

// --- answers -------------------------------------------------------------------------------------

void Connection::OnRequest(uint32_t stream, Request request) {
  const auto encodings = request.headers.Find("accept-encoding");
  const bool gzip = encodings && AcceptsGzip(*encodings);
  thread_.handler()(std::move(request), Responder(thread_.mailbox(), {id_, stream}, gzip));
}

void Connection::OnOutput() {
  if (!in_turn_) thread_.Enqueue(*this);
}

/// Writes at once instead of queueing a turn. One event may wake thousands of connections, and this
/// way each is visited once, while its data is in the cache.
void Connection::OnWoken() {
  if (phase_ != Phase::kOpen || in_turn_ || read_now_) {
    OnOutput();
  } else {
    Pump();
  }
}

void Connection::Finish(uint32_t stream, Response response) {
  if (protocol_ != nullptr) protocol_->Finish(stream, std::move(response));
}

void Connection::Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) {
  if (protocol_ != nullptr) protocol_->Stream(stream, std::move(head), std::move(source));
}

void Connection::Drain() {
  draining_ = true;
  if (protocol_ != nullptr) protocol_->Drain();
}

// --- turns ---------------------------------------------------------------------------------------

void Connection::Turn() {
  if (phase_ != Phase::kOpen) return;
  if (read_now_) {
    OnReadable();
  } else {
    Pump();
  }
}

void Connection::OnReadable() {
  switch (phase_) {
    case Phase::kHandshake:
      Handshake();
      return;
    case Phase::kClosing:
      Linger();
      return;
    case Phase::kClosed:
      return;
    case Phase::kOpen:
      break;
  }
  in_turn_ = true;
  read_now_ = false;
  ReadAll();
  in_turn_ = false;
  if (phase_ == Phase::kOpen) {
    Pump();
  } else {
    protocol_.reset();
  }
}

void Connection::ReadAll() {
  const std::span<char> buffer = thread_.read_buffer();
  size_t turn = 0;
  while (unsent_.empty() && turn < kTurn && protocol_->WantsInput()) {
    const Transport::Outcome read = transport_->Read(buffer.data(), buffer.size());
    switch (read.status) {
      case Transport::Status::kOk:
        thread_.env().counters.bytes_read.Add(read.bytes);
        turn += read.bytes;
        protocol_->Receive({buffer.data(), read.bytes});
        break;
      case Transport::Status::kWantRead:
        return;
      case Transport::Status::kWantWrite:
        read_now_ = true;
        WaitWrite();
        return;
      case Transport::Status::kClosed:
        input_ended_ = true;
        protocol_->ReceiveEnd();
        return;
      case Transport::Status::kError:
        Close();
        return;
    }
    // The read did not fill the buffer, so another one would find nothing.
    if (!transport_->HasPending()) return;
  }
}

void Connection::Pump() {
  const auto self = shared_from_this();
  in_turn_ = true;
  std::string& out = thread_.write_buffer();
  size_t turn = 0;
  bool later = false;
  for (bool more = true; Flush() && more;) {
    if (turn >= kTurn) {
      later = true;
      break;
    }
    out.clear();
    protocol_->Produce(out, kRoom);
    more = out.size() >= kRoom;
    turn += out.size();
    if (!Write(out, true)) break;
  }
  in_turn_ = false;
  if (phase_ != Phase::kOpen) {
    protocol_.reset();
    return;
  }
  if (unsent_.empty() && !later) {
    if (protocol_->Done()) {
      BeginClose();
      return;
    }
    if (protocol_->WantsInput()) {
      if (transport_->HasPending()) {
        read_now_ = true;
        later = true;
      } else {
        WaitRead();
      }
    }
  }
  if (later) thread_.Enqueue(*this);
  UpdateDeadline();
}

bool Connection::Flush() {
  if (phase_ != Phase::kOpen) return false;
  if (unsent_.empty()) return true;
  std::string bytes;
  bytes.swap(unsent_);
  return Write(bytes, false) && unsent_.empty();
}

bool Connection::Write(std::string_view bytes, bool fresh) {
  while (!bytes.empty()) {
    const Transport::Outcome written = transport_->Write(bytes);
    if (written.status == Transport::Status::kOk) {
      thread_.env().counters.bytes_written.Add(written.bytes);
      fresh = true;
      bytes.remove_prefix(written.bytes);
      continue;
    }
    if (written.status == Transport::Status::kWantWrite ||
        written.status == Transport::Status::kWantRead) {
      unsent_ = bytes;
      if (fresh) progress_ = thread_.env().clock.Steady();
      if (written.status == Transport::Status::kWantWrite) {
        WaitWrite();
      } else {
        WaitRead();
      }
      return false;
    }
    Close();
    return false;
  }
  return true;
}

// --- the end -------------------------------------------------------------------------------------

/// Ends the output and gives the client a moment to read it and to close first. Closing the socket
/// with unread input would reset the connection, and the client might lose the answer.
void Connection::BeginClose() {
  if (input_ended_) {
    transport_->Shutdown();
    Close();
    return;
  }
  phase_ = Phase::kClosing;
  since_ = thread_.env().clock.Steady();
  protocol_.reset();
  transport_->Shutdown();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  WaitRead();
  UpdateDeadline();
}

void Connection::Linger() {
  const std::span<char> buffer = thread_.read_buffer();
  for (;;) {
    const ssize_t bytes = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) break;
    lingered_ += bytes > 0 ? static_cast<size_t>(bytes) : 0;
    if (bytes <= 0 || lingered_ > kLingerSocketBytes) {
      Close();
      return;
    }
  }
  WaitRead();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  phase_ = Phase::kClosed;
  thread_.Remove(*this);
  // Within a turn the protocol is still in use. It is destroyed at the end of the turn.
  if (!in_turn_) protocol_.reset();
  transport_.reset();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

// --- waiting -------------------------------------------------------------------------------------

void Connection::WaitRead() {
  if (waits_read_) return;
  waits_read_ = true;
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_read_ = false;
                       if (!error) self->OnReadable();
                     });
}

void Connection::WaitWrite() {
  if (waits_write_) return;
  waits_write_ = true;
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this()](boost::system::error_code error) {
                       self->waits_write_ = false;
                       if (error) return;
                       if (self->phase_ == Phase::kHandshake) {
                         self->Handshake();
                       } else {
                         self->Turn();
                       }
                     });
}

std::optional<base::SteadyTime> Connection::Deadline() const {
  const Limits& limits = thread_.env().limits;
  switch (phase_) {
    case Phase::kHandshake:
      return since_ + limits.handshake;
    case Phase::kClosing:
      return since_ + limits.linger;
    case Phase::kClosed:
      return std::nullopt;
    case Phase::kOpen:
      break;
  }
  std::optional<base::SteadyTime> deadline = protocol_->Deadline();
  if (!unsent_.empty()) {
    const base::SteadyTime stall = progress_ + protocol_->StallLimit();
    deadline = deadline ? std::min(*deadline, stall) : stall;
  }
  return deadline;
}

void Connection::UpdateDeadline() {
  // If the deadline has moved later, the timer stays as it is, and OnTime checks again.
  if (const auto deadline = Deadline(); deadline && (!armed || *deadline < *armed)) {
    thread_.Arm(*this, *deadline);
  }
}

void Connection::OnTime(base::SteadyTime now) {
  const auto deadline = Deadline();
  if (!deadline || now < *deadline) {
    UpdateDeadline();
    return;
  }
  if (phase_ == Phase::kHandshake) {
    thread_.env().counters.handshakes_failed.Add();
    thread_.env().counters.timeouts.Add();
    Close();
    return;
  }
  const bool stalled =
      !unsent_.empty() && now >= progress_ + (protocol_ == nullptr ? std::chrono::nanoseconds(0)
                                                                   : protocol_->StallLimit());
  if (phase_ == Phase::kClosing || stalled) {
    if (stalled) thread_.env().counters.timeouts.Add();
    Close();
    return;
  }
  in_turn_ = true;
  protocol_->OnDeadline(now);
  in_turn_ = false;
  Pump();
}

}  // namespace berth::http
