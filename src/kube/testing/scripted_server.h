// A server whose answers a test writes down, byte by byte, so that it can be as rough as the test
// needs: cut off, silent, slow or wrong. It serves one connection at a time.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "http/listener.h"
#include "kube/access.h"

namespace berth::kube {

/// What happens after the bytes of an answer.
enum class Then { kGoOn, kCut, kHang };

struct Script {
  std::string bytes;
  Then then = Then::kGoOn;
};

/// Returns an answer with a length.
inline Script Reply(int code, std::string_view body, std::string_view headers = "") {
  return {fmt::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n{}", code, headers, body.size(),
                      body)};
}

inline std::string StatusBody(int code, std::string_view reason, std::string_view message,
                              std::string_view token = "") {
  return fmt::format(
      R"({{"kind":"Status","metadata":{{"continue":"{}"}},"message":"{}","reason":"{}","code":{}}})",
      token, message, reason, code);
}

/// Returns an answer that consists of these lines. It ends cleanly, is cut off or hangs.
inline Script Stream(const std::vector<std::string>& lines, Then then = Then::kGoOn) {
  std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& line : lines) bytes += fmt::format("{:x}\r\n{}\r\n", line.size(), line);
  if (then == Then::kGoOn) bytes += "0\r\n\r\n";
  return {bytes, then};
}

class ScriptedServer {
 public:
  /// Answers the request with this head. Called on the thread of the server.
  using Answerer = std::function<Script(const std::string& head, size_t index)>;

  explicit ScriptedServer(Answerer answerer)
      : answerer_(std::move(answerer)),
        listeners_(http::Listen({"127.0.0.1"}, 0).value()),
        thread_([this] { Run(); }) {}
  ~ScriptedServer() {
    ::shutdown(listeners_.sockets.front().get(), SHUT_RDWR);
    {
      base::MutexLock lock(mutex_);
      if (connection_ >= 0) ::shutdown(connection_, SHUT_RDWR);
    }
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  Access MakeAccess() const {
    Access access{.url = fmt::format("http://127.0.0.1:{}", listeners_.port), .origin = "a test"};
    access.client.port = listeners_.port;
    return access;
  }
  /// Returns the heads of all requests so far.
  std::vector<std::string> Heads() const {
    base::MutexLock lock(mutex_);
    return heads_;
  }
  int Connections() const {
    base::MutexLock lock(mutex_);
    return connections_;
  }

 private:
  void Run() {
    pollfd wait{.fd = listeners_.sockets.front().get(), .events = POLLIN, .revents = 0};
    while (::poll(&wait, 1, -1) > 0) {
      const http::UniqueFd socket(::accept(wait.fd, nullptr, nullptr));
      if (socket.get() < 0) return;
      {
        base::MutexLock lock(mutex_);
        connection_ = socket.get();
        ++connections_;
      }
      Serve(socket.get());
      base::MutexLock lock(mutex_);
      connection_ = -1;
    }
  }

  void Serve(int socket) {
    std::string buffered;
    for (;;) {
      size_t end = 0;
      while ((end = buffered.find("\r\n\r\n")) == std::string::npos) {
        std::string part(65536, '\0');
        const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
        if (got <= 0) return;
        buffered.append(part, 0, static_cast<size_t>(got));
      }
      const std::string head = buffered.substr(0, end);
      buffered.erase(0, end + 4);
      size_t index = 0;
      {
        base::MutexLock lock(mutex_);
        index = heads_.size();
        heads_.push_back(head);
      }
      const Script script = answerer_(head, index);
      ::send(socket, script.bytes.data(), script.bytes.size(), MSG_NOSIGNAL);
      if (script.then == Then::kCut) return;
      if (script.then == Then::kHang) {
        char byte = 0;
        ::recv(socket, &byte, 1, 0);
        return;
      }
    }
  }

  const Answerer answerer_;
  http::Listeners listeners_;
  mutable base::Mutex mutex_;
  std::vector<std::string> heads_ GUARDED_BY(mutex_);
  int connection_ GUARDED_BY(mutex_) = -1;
  int connections_ GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace berth::kube
