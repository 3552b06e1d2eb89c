// Shows the raw limit of the HTTP layer: a handler that answers every request with the same bytes,
// with the same server, TLS and limits as Berth.
//
//   bare_server PORT BYTES
//
// Prints "ready" and serves until its standard input ends.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "driver.h"
#include "http/certificates.h"
#include "http/server.h"

int main(int argc, char** argv) {
  namespace http = berth::http;
  using berth::bench::OrDie;
  if (argc != 3) {
    std::fputs("usage: bare_server PORT BYTES\n", stderr);
    return 2;
  }
  const berth::base::SystemClock clock;
  berth::base::Logger log({}, clock);
  const auto authority = OrDie(http::MakeAuthority("bench", {.from = clock.Now()}));
  const auto serving = OrDie(http::MakeServing(
      authority, {.common_name = "bench", .ips = {"127.0.0.1"}}, {.from = clock.Now()}));
  http::ServerOptions options;
  options.port = static_cast<uint16_t>(std::atoi(argv[1]));
  options.tls =
      http::TlsSettings{.certificate_pem = serving.certificate_pem, .key_pem = serving.key_pem};
  const auto body = std::make_shared<const std::string>(std::strtoul(argv[2], nullptr, 10), 'x');
  // The ids differ, as Berth's do, so that HTTP/2 sends as many bytes.
  std::vector<std::string> ids;
  auto random = berth::base::SeededRandom::FromKernel();
  for (int i = 0; i < 4096; ++i) ids.push_back(berth::base::NewUuid(random));
  std::atomic<size_t> next = 0;
  http::Server server(
      std::move(options),
      [&](const http::Request&, const http::Responder& respond) {
        http::Response response;
        response.headers.AddUnique("audit-id", ids[next.fetch_add(1) % ids.size()]);
        response.headers.Add("cache-control", "no-cache, private");
        response.headers.Add("content-type", "application/json");
        response.body.Add(body);
        respond.Finish(std::move(response));
      },
      log, clock);
  if (auto started = server.Start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return 0;
}
