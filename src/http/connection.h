// The connection of one client: its socket, TLS, protocol, and the waiting in between. It belongs
// to an IoThread and is used on that thread only. It reads only when the last output is written,
// and asks the protocol for output only then, so a client that does not read costs one buffer.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/listener.h"
#include "http/protocol.h"
#include "http/transport.h"

namespace berth::http {

class IoThread;

class Connection final : public ProtocolHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(IoThread& thread, uint64_t id, UniqueFd socket, std::string address,
             std::shared_ptr<const TlsContext> tls);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  uint64_t id() const { return id_; }
  void Start();
  void Finish(uint32_t stream, Response response);
  void Stream(uint32_t stream, Response head, std::unique_ptr<Source> source);
  void Drain();
  /// Closes the connection at once, whatever is under way.
  void Close();

  // --- for IoThread ---

  /// Does the work that OnOutput has noted.
  void Turn();
  void OnTime(base::SteadyTime now);
  /// Whether the connection is in the thread's list of turns, and its time in the list of
  /// deadlines.
  bool queued = false;
  std::optional<base::SteadyTime> armed;

 private:
  enum class Phase { kHandshake, kOpen, kClosing, kClosed };

  void OnRequest(uint32_t stream, Request request) override;
  void OnOutput() override;
  void OnWoken() override;

  void Handshake();
  void Open();
  void OnReadable();
  void ReadAll();
  void Pump();
  /// Sends unsent_. Returns false if the client takes no more for now, or if the connection is
  /// closed.
  bool Flush();
  /// `fresh` says that the server has not waited for the client to take these bytes.
  bool Write(std::string_view bytes, bool fresh);
  void BeginClose();
  void Linger();
  void WaitRead();
  void WaitWrite();
  std::optional<base::SteadyTime> Deadline() const;
  void UpdateDeadline();

  IoThread& thread_;
  const uint64_t id_;
  boost::asio::posix::stream_descriptor socket_;
  std::shared_ptr<const TlsContext> tls_;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<Peer> peer_;
  std::unique_ptr<Protocol> protocol_;
  Phase phase_ = Phase::kHandshake;
  std::string unsent_;
  bool in_turn_ = false;
  bool read_now_ = false;  // There is input for which no event will come.
  bool waits_read_ = false;
  bool waits_write_ = false;
  bool input_ended_ = false;
  bool draining_ = false;
  base::SteadyTime since_;     // When the phase began.
  base::SteadyTime progress_;  // When the client last took some output, while some is unsent.
  size_t lingered_ = 0;
};

}  // namespace berth::http
