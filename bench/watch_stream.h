// Watches over TLS, thousands in one process. A non-blocking connection has one watch with HTTP/1.1
// or many with HTTP/2. The code knows only as much of both protocols as it needs to read watches.
// Of an event it reads only the time at which it was sent.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

/// Called with the number that follows `"sent":"` in every event.
using OnEvent = std::function<void(int64_t sent_ns)>;

/// Finds the times in a stream of JSON that arrives in arbitrary parts.
class SentFinder {
 public:
  void Feed(std::string_view bytes, const OnEvent& on_event);

 private:
  std::string rest_;  // The beginning of an incomplete event.
};

class WatchConnection {
 public:
  /// Connects and does the TLS handshake, which blocks. Then requests every path. Later calls do
  /// not block.
  WatchConnection(SSL_CTX* context, uint16_t port, int protocol, const std::string& token,
                  const std::vector<std::string>& paths);
  ~WatchConnection();
  WatchConnection(const WatchConnection&) = delete;
  WatchConnection& operator=(const WatchConnection&) = delete;

  int descriptor() const { return descriptor_; }

  /// Reads all available input. Returns false if the server has ended the connection.
  bool Read(const OnEvent& on_event);

  /// Returns how many watches were answered with 200.
  size_t answered() const { return answered_; }
  /// Returns the bytes of all events, without those of HTTP.
  size_t bytes() const { return bytes_; }

 private:
  void AskHttp1(const std::string& token, const std::string& path);
  void AskHttp2(const std::string& token, const std::vector<std::string>& paths);
  void Send(std::string_view bytes);
  void TakeHttp1(const OnEvent& on_event);
  void TakeHttp2(const OnEvent& on_event);
  void TakeFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload,
                 const OnEvent& on_event);

  int descriptor_ = -1;
  SSL* ssl_ = nullptr;
  const int protocol_;
  std::string input_;
  bool head_read_ = false;
  size_t answered_ = 0;
  size_t bytes_ = 0;
  std::vector<SentFinder> finders_;  // One per watch.
};

}  // namespace berth::bench
