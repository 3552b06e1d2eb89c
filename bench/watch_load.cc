// Runs watchers and writers against a running server. Measures how many events arrive and how late,
// the server's memory per watcher, and its processor time per event.
//
//   watch_load PORT PID CA_FILE TOKEN PROTOCOL STREAMS WATCHERS SCOPES RATE SECONDS
//
// PROTOCOL is 1 for HTTP/1.1 and 2 for HTTP/2. STREAMS is the number of watchers per connection, 1
// for HTTP/1.1. SCOPES is the number of namespaces that watchers and writes are spread over. With
// 1, all watchers watch the same prefix, that of all namespaces. Writes are updates of one Service
// per namespace. Prints one line of JSON.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "driver.h"
#include "http/client.h"
#include "watch_stream.h"

namespace berth::bench {
namespace {

constexpr int kWriters = 8;

struct Arguments {
  uint16_t port = 0;
  int pid = 0;
  std::string ca_pem;
  std::string token;
  int protocol = 1;
  size_t streams = 1;
  size_t watchers = 0;
  size_t scopes = 1;
  int rate = 0;
  int seconds = 0;
};

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double ResidentKib(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

/// Returns the processor time that a process has used, all threads together, in microseconds.
double ProcessorUs(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  const std::string line(std::istreambuf_iterator<char>(stat), {});
  // The second field is a name in brackets that may hold spaces. Ticks are the 14th and the 15th.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string NamespaceName(size_t scope) { return fmt::format("watch-{:03}", scope); }
std::string ServicesOf(size_t scope) {
  return fmt::format("/api/v1/namespaces/{}/services", NamespaceName(scope));
}

class Writer {
 public:
  explicit Writer(const Arguments& arguments)
      : client_({.port = arguments.port,
                 .tls = http::ClientTls{.ca_pem = arguments.ca_pem},
                 .token = arguments.token}) {}

  /// Returns the resourceVersion of the list of all Services.
  std::string Version() {
    constexpr std::string_view kVersion = "\"resourceVersion\":\"";
    const auto answer = OrDie(client_.Send({.target = "/api/v1/services"}));
    const size_t begin = answer.body.find(kVersion) + kVersion.size();
    return answer.body.substr(begin, answer.body.find('"', begin) - begin);
  }

  int Send(const std::string& method, const std::string& target, const std::string& body) {
    http::ClientRequest request{.method = method, .target = target, .body = body};
    request.headers.Add("content-type", "application/json");
    const auto answer = client_.Send(request);
    return answer ? answer->code : 0;
  }

  static std::string Service(size_t scope) {
    return fmt::format(
        R"({{"metadata":{{"name":"web","namespace":"{}","annotations":{{"sent":"{}"}}}},)"
        R"("spec":{{"clusterIP":"None","ports":[{{"port":80}}]}}}})",
        NamespaceName(scope), NowNs());
  }

 private:
  http::Client client_;
};

/// Creates the Services and returns the version to watch from, so that the Services that exist do
/// not count as events.
std::string Prepare(const Arguments& arguments) {
  Writer writer(arguments);
  for (size_t scope = 0; scope < arguments.scopes; ++scope) {
    writer.Send("POST", "/api/v1/namespaces",
                fmt::format(R"({{"metadata":{{"name":"{}"}}}})", NamespaceName(scope)));
    writer.Send("POST", ServicesOf(scope), Writer::Service(scope));
  }
  return writer.Version();
}

/// Sends one writer's share of the writes at even intervals.
void Write(const Arguments& arguments, size_t number, std::atomic<uint64_t>& written,
           std::atomic<uint64_t>& failed) {
  Writer writer(arguments);
  const std::chrono::nanoseconds step{1'000'000'000LL * kWriters / arguments.rate};
  const auto begin = std::chrono::steady_clock::now() + step * static_cast<int>(number) / kWriters;
  const int64_t count = int64_t{arguments.rate} * arguments.seconds / kWriters;
  // Each writer has separate namespaces, unless there are too few, so that updates do not conflict.
  for (int64_t i = 0; i < count; ++i) {
    std::this_thread::sleep_until(begin + step * i);
    const size_t scope = (number + kWriters * static_cast<size_t>(i)) % arguments.scopes;
    const int code = writer.Send("PUT", ServicesOf(scope) + "/web", Writer::Service(scope));
    ++(code == 200 ? written : failed);
  }
}

class Watchers {
 public:
  Watchers(const Arguments& arguments, const std::string& version)
      : poll_(epoll_create1(EPOLL_CLOEXEC)) {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    const size_t together = arguments.streams;
    for (size_t made = 0; made < arguments.watchers; made += together) {
      std::vector<std::string> paths;
      for (size_t i = made; i < std::min(made + together, arguments.watchers); ++i) {
        paths.push_back(fmt::format(
            "{}?watch=1&timeoutSeconds=600&resourceVersion={}",
            arguments.scopes == 1 ? "/api/v1/services" : ServicesOf(i % arguments.scopes),
            version));
      }
      connections_.push_back(std::make_unique<WatchConnection>(
          context, arguments.port, arguments.protocol, arguments.token, paths));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = connections_.back().get();
      epoll_ctl(poll_, EPOLL_CTL_ADD, connections_.back()->descriptor(), &event);
    }
    SSL_CTX_free(context);
  }

  /// Reads until the time `until`.
  void Run(std::chrono::steady_clock::time_point until) {
    std::vector<epoll_event> events(256);
    const OnEvent on_event = [this](int64_t sent) {
      lags_.push_back(static_cast<double>(NowNs() - sent) / 1e6);
    };
    while (std::chrono::steady_clock::now() < until) {
      const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 20);
      for (int i = 0; i < ready; ++i) {
        auto* connection = static_cast<WatchConnection*>(events[static_cast<size_t>(i)].data.ptr);
        if (!connection->Read(on_event)) {
          fmt::print(stderr, "watch_load: the server ended a watch\n");
          std::exit(1);
        }
      }
    }
  }

  /// Returns the bytes of all events so far.
  size_t Bytes() const {
    size_t bytes = 0;
    for (const auto& connection : connections_) bytes += connection->bytes();
    return bytes;
  }

  size_t Answered() const {
    size_t answered = 0;
    for (const auto& connection : connections_) answered += connection->answered();
    return answered;
  }

  std::vector<double>& lags() { return lags_; }

 private:
  const int poll_;
  std::vector<std::unique_ptr<WatchConnection>> connections_;
  std::vector<double> lags_;
};

double At(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

void Run(const Arguments& arguments) {
  using std::chrono::seconds;
  using std::chrono::steady_clock;
  const std::string version = Prepare(arguments);
  const double before = ResidentKib(arguments.pid);
  Watchers watchers(arguments, version);
  while (watchers.Answered() < arguments.watchers) {
    watchers.Run(steady_clock::now() + std::chrono::milliseconds(100));
  }
  watchers.Run(steady_clock::now() + seconds(1));
  watchers.lags().clear();
  const double idle = ResidentKib(arguments.pid);
  const double processor = ProcessorUs(arguments.pid);
  std::atomic<uint64_t> written = 0;
  std::atomic<uint64_t> failed = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] { Write(arguments, i, written, failed); });
  }
  watchers.Run(steady_clock::now() + seconds(arguments.seconds + 1));
  for (std::thread& thread : threads) thread.join();
  watchers.Run(steady_clock::now() + seconds(1));
  const double used = ProcessorUs(arguments.pid) - processor;
  std::vector<double>& lags = watchers.lags();
  const auto delivered = static_cast<double>(std::max<size_t>(lags.size(), 1));
  std::sort(lags.begin(), lags.end());
  const double each =
      static_cast<double>(arguments.watchers) / static_cast<double>(arguments.scopes);
  const double busy = ResidentKib(arguments.pid);
  const auto count = static_cast<double>(arguments.watchers);
  fmt::print(
      R"({{"writes":{},"failed":{},"expected":{:.0f},"delivered":{},"per_second":{:.0f},)"
      R"("p50_ms":{:.2f},"p99_ms":{:.2f},"max_ms":{:.2f},"idle_kib":{:.2f},"busy_kib":{:.2f},)"
      R"("processor_us":{:.3f},"event_bytes":{:.0f}}})"
      "\n",
      written.load(), failed.load(), static_cast<double>(written) * each, lags.size(),
      static_cast<double>(lags.size()) / arguments.seconds, At(lags, 0.5), At(lags, 0.99),
      lags.empty() ? 0 : lags.back(), (idle - before) / count, (busy - before) / count,
      used / delivered, static_cast<double>(watchers.Bytes()) / delivered);
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  if (argc != 11) {
    std::fputs(
        "usage: watch_load PORT PID CA_FILE TOKEN PROTOCOL STREAMS WATCHERS SCOPES RATE SECONDS\n",
        stderr);
    return 2;
  }
  const auto number = [argv](int at) { return std::atoi(argv[at]); };
  std::ifstream ca_file(argv[3]);
  berth::bench::Run({.port = static_cast<uint16_t>(number(1)),
                     .pid = number(2),
                     .ca_pem = std::string(std::istreambuf_iterator<char>(ca_file), {}),
                     .token = argv[4],
                     .protocol = number(5),
                     .streams = static_cast<size_t>(number(6)),
                     .watchers = static_cast<size_t>(number(7)),
                     .scopes = static_cast<size_t>(number(8)),
                     .rate = number(9),
                     .seconds = number(10)});
  return 0;
}
