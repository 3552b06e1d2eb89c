// Watches over TLS, thousands in one process: a connection that never blocks, with one watch on
// HTTP/1.1 or many on HTTP/2. It knows as much of both as reading watches takes, and looks for
// nothing in them but the time at which each event was sent.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

/// Called with what stands behind `"sent":"` in every event.
using OnEvent = std::function<void(int64_t sent_ns)>;

/// Finds the times in a stream of JSON that comes in any parts.
class SentFinder {
 public:
  void Feed(std::string_view bytes, const OnEvent& on_event);

 private:
  std::string rest_;  // Of an event that has not ended.
};

class WatchConnection {
 public:
  /// Connects and shakes hands, blocking; then asks for every path and no longer blocks.
  WatchConnection(SSL_CTX* context, uint16_t port, int protocol, const std::string& token,
                  const std::vector<std::string>& paths);
  ~WatchConnection();
  WatchConnection(const WatchConnection&) = delete;
  WatchConnection& operator=(const WatchConnection&) = delete;

  int descriptor() const { return descriptor_; }

  /// Reads all there is; false when the server has ended it.
  bool Read(const OnEvent& on_event);

  /// Watches that were answered with 200.
  size_t answered() const { return answered_; }

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
  std::vector<SentFinder> finders_;  // One per watch.
};

}  // namespace berth::bench
