#include "http/client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "http/gzip.h"
#include "http/source.h"
#include "http/stop_signal.h"
#include "http/testing/proxy_stand_in.h"
#include "http/testing/socket_peer.h"

namespace berth::http {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Sends megabytes of text.
class Long final : public Source {
 public:
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    out.Add(std::string(65'536, static_cast<char>('a' + count_ % 26)));
    return ++count_ == 100 ? Pulled::kEnd : Pulled::kMore;
  }

 private:
  int count_ = 0;
};

/// Sends a little, and then nothing for a long time.
class Silent final : public Source {
 public:
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    if (!std::exchange(sent_, true)) out.Add("x");
    return Pulled::kWait;
  }

 private:
  bool sent_ = false;
};

void Serve(const Request& request, const Responder& respond) {
  if (request.path == "/long") {
    respond.Stream(200, {{"x-kind", "long"}}, std::make_unique<Long>());
  } else if (request.path == "/silent") {
    respond.Stream(200, {}, std::make_unique<Silent>());
  } else if (request.path == "/gzip") {
    const bool asked = AcceptsGzip(request.headers.Find("accept-encoding").value_or(""));
    const std::string body(10'000'000, 'z');
    respond.Finish({.headers = asked ? Headers{{"content-encoding", "gzip"}} : Headers{},
                    .body = asked ? Gzip(body) : body});
  } else if (request.path == "/cut-gzip") {
    respond.Finish({.headers = {{"content-encoding", "gzip"}},
                    .body = Gzip(std::string(1000, 'z')).substr(0, 20)});
  } else if (request.path == "/no-gzip") {
    respond.Finish({.headers = {{"content-encoding", "gzip"}}, .body = std::string("plain text")});
  } else if (request.path == "/empty") {
    respond.Stream(200, {}, nullptr);
  } else if (request.path == "/missing") {
    respond.Finish({.code = 404, .body = "no such thing"});
  } else if (request.path != "/never") {
    respond.Finish({.body = std::string(request.headers.Find("authorization").value_or("nobody"))});
  }
}

TEST(Client, SendsItsToken) {
  TestServer server(false, {}, Serve);
  Client client({.port = server.port(), .token = "secret"});
  EXPECT_EQ(client.Send({})->body, "Bearer secret");
}

TEST(Client, HandsOnALongAnswerAsItComes) {
  TestServer server(true, {}, Serve);
  ClientOptions options{.port = server.port(),
                        .tls = ClientTls{.ca_pem = TestAuthority::Get().ca.certificate_pem},
                        .body_limit = 100};
  Client client(options);
  size_t bytes = 0;
  int parts = 0;
  const auto answer =
      client.Send({.target = "/long"}, [&](const ClientResponse& head, std::string_view part) {
        EXPECT_EQ(head.headers.Find("x-kind"), "long");
        bytes += part.size();
        ++parts;
        return true;
      });
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(bytes, 6'553'600U);
  EXPECT_GT(parts, 1);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(client.Send({.target = "/empty"})->code, 200);
  const auto stopped = client.Send({.target = "/long"},
                                   [](const ClientResponse&, std::string_view) { return false; });
  EXPECT_TRUE(stopped.has_value());
  const auto missing =
      client.Send({.target = "/missing"}, [](const auto&, std::string_view) { return false; });
  EXPECT_EQ(missing->body, "no such thing") << "errors are read whole";
  const auto large = client.Send({.target = "/long"});
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().reason, base::Reason::kRequestEntityTooLarge);
}

TEST(Client, ConnectsAgainWhenTheServerHasClosed) {
  TestServer server(false, {.idle = milliseconds(20)});
  Client client({.port = server.port()});
  EXPECT_EQ(client.Send({})->code, 200);
  ASSERT_TRUE(TestServer::Eventually([&] {
    const Stats stats = server.server->stats();
    return stats.connections == 1 && stats.connections_now <= 1;
  }));
  std::this_thread::sleep_for(milliseconds(60));
  const auto again = client.Send({});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->code, 200);
}

TEST(Client, SaysWhatIsWrong) {
  TestServer server(true, {}, Serve);
  Client untrusting({.port = server.port(), .tls = ClientTls{}});
  EXPECT_THAT(untrusting.Send({}).error().message, HasSubstr("certificate"));
  const std::string ca = TestAuthority::Get().ca.certificate_pem;
  Client misnamed(
      {.port = server.port(), .tls = ClientTls{.ca_pem = ca, .server_name = "other.example"}});
  EXPECT_THAT(misnamed.Send({}).error().message,
              EndsWith(": the certificate is for localhost and 127.0.0.1, not for other.example"));
  Client misaddressed(
      {.port = server.port(),
       .tls =
           ClientTls{.ca_pem = ca, .server_name = "10.0.0.1", .name_advice = "take another one"}});
  EXPECT_THAT(misaddressed.Send({}).error().message,
              EndsWith(" and 127.0.0.1, not for 10.0.0.1; take another one"));
  Client by_name(
      {.port = server.port(), .tls = ClientTls{.ca_pem = ca, .server_name = "localhost"}});
  EXPECT_TRUE(by_name.Send({}).has_value());
  Client impatient(
      {.port = server.port(), .tls = ClientTls{.ca_pem = ca}, .read_timeout = milliseconds(50)});
  EXPECT_EQ(impatient.Send({.target = "/never"}).error().reason, base::Reason::kTimeout);
  const uint16_t port = server.port();
  server.server->Stop();
  Client late({.port = port});
  EXPECT_THAT(late.Send({}).error().message, HasSubstr("Connection refused"));
}

TEST(Client, InflatesWhatTheServerHasCompressed) {
  TestServer server(false, {}, Serve);
  Client client({.port = server.port(), .gzip = true});
  EXPECT_EQ(client.Send({.target = "/gzip"})->body, std::string(10'000'000, 'z'));
  size_t bytes = 0;
  size_t largest = 0;
  ASSERT_TRUE(client.Send({.target = "/gzip"}, [&](const auto&, std::string_view part) {
    bytes += part.size();
    largest = std::max(largest, part.size());
    return true;
  }));
  EXPECT_EQ(bytes, 10'000'000U);
  EXPECT_LE(largest, 65'536U) << "a part is bounded however well it is compressed";
  Client small({.port = server.port(), .body_limit = 9'999'999, .gzip = true});
  EXPECT_EQ(small.Send({.target = "/gzip"}).error().reason, base::Reason::kRequestEntityTooLarge);
  EXPECT_THAT(client.Send({.target = "/cut-gzip"}).error().message, HasSubstr("ends too early"));
  EXPECT_THAT(client.Send({.target = "/no-gzip"}).error().message, HasSubstr("not valid gzip"));
  EXPECT_EQ(Client({.port = server.port()}).Send({.target = "/no-gzip"})->body, "plain text")
      << "a client that did not ask for gzip passes the body on";
}

TEST(Client, LimitsTheTimeOfAWholeRequest) {
  TestServer server(false, {}, Serve);
  Client client({.port = server.port()});
  const auto late = client.Send({.target = "/silent", .time_limit = milliseconds(50)});
  EXPECT_EQ(late.error().reason, base::Reason::kTimeout);
  EXPECT_THAT(late.error().message, HasSubstr("within 50ms"));
  EXPECT_EQ(client.Send({.target = "/", .time_limit = std::chrono::seconds(20)})->code, 200);
  EXPECT_THAT(client.Send({.target = "/silent", .read_timeout = milliseconds(50)}).error().message,
              HasSubstr("does not answer"));
}

TEST(Client, StopsWhenAnotherThreadSaysSo) {
  TestServer server(true, {}, Serve);
  const auto stop = std::make_shared<StopSignal>();
  Client client({.port = server.port(),
                 .tls = ClientTls{.ca_pem = TestAuthority::Get().ca.certificate_pem},
                 .stop = stop});
  std::thread other;
  const auto answer = client.Send({.target = "/silent"}, [&](const auto&, std::string_view part) {
    if (!part.empty()) other = std::thread([&] { stop->Raise(); });
    return true;
  });
  other.join();
  EXPECT_THAT(answer.error().message, HasSubstr("was stopped"));
  EXPECT_THAT(client.Send({}).error().message, HasSubstr("was stopped"));
  EXPECT_FALSE(stop->SleepFor(std::chrono::hours(1)));
}

TEST(Client, TrustsEachCertificateThatItIsGiven) {
  TestServer server(true, {}, Serve);
  // The server's own certificate, without the authority that signed it.
  const std::string own = TestAuthority::Get().serving.certificate_pem;
  Client client({.port = server.port(), .tls = ClientTls{.ca_pem = own}});
  const auto answer = client.Send({});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->code, 200);
  const KeyPair other = MakeAuthority("other-ca", TestAuthority::Get().validity).value();
  Client untrusting({.port = server.port(), .tls = ClientTls{.ca_pem = other.certificate_pem}});
  EXPECT_THAT(untrusting.Send({}).error().message, HasSubstr("certificate"));
}

TEST(Client, AcceptsAnyCertificateIfTold) {
  TestServer server(true, {}, Serve);
  Client client(
      {.port = server.port(), .tls = ClientTls{.server_name = "other.example", .verify = false}});
  const auto answer = client.Send({});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->code, 200);
}

TEST(Client, GoesThroughAProxy) {
  const ClientTls trusting{.ca_pem = TestAuthority::Get().ca.certificate_pem};
  TestServer plain(false, {}, Serve);
  TestServer tls(true, {}, Serve);
  for (const bool tls_proxy : {false, true}) {
    ProxyStandIn proxy({.tls = tls_proxy});
    const std::string url =
        fmt::format("{}://jane:p%40ss@127.0.0.1:{}", tls_proxy ? "https" : "http", proxy.port());
    {
      Client client({.port = tls.port(), .tls = trusting, .token = "secret", .proxy_url = url});
      const auto answer = client.Send({});
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      EXPECT_EQ(answer->body, "Bearer secret");
      size_t bytes = 0;
      ASSERT_TRUE(client.Send({.target = "/long"}, [&](const auto&, std::string_view part) {
        bytes += part.size();
        return true;
      }));
      EXPECT_EQ(bytes, 6'553'600U);
    }
    ASSERT_EQ(proxy.Seen().size(), 1U);
    EXPECT_THAT(proxy.Seen()[0],
                StartsWith(fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n", tls.port())));
    EXPECT_THAT(proxy.Seen()[0], HasSubstr("\r\nProxy-Authorization: Basic amFuZTpwQHNz\r\n"));
    EXPECT_THAT(proxy.Seen()[0], Not(HasSubstr("secret"))) << "the token is not for the proxy";
    if (tls_proxy) continue;  // Its certificate is trusted through the settings of the server.
    {
      Client client({.port = plain.port(), .token = "secret", .proxy_url = url});
      EXPECT_EQ(client.Send({.target = "/a?b=c"})->body, "Bearer secret");
    }
    EXPECT_THAT(proxy.Seen()[1],
                StartsWith(fmt::format("GET http://127.0.0.1:{}/a?b=c HTTP/1.1", plain.port())));
    EXPECT_THAT(proxy.Seen()[1], HasSubstr("Proxy-Authorization: Basic amFuZTpwQHNz"));
  }
}

TEST(Client, GoesThroughASocksProxy) {
  TestServer server(true, {}, Serve);
  ProxyStandIn proxy({.socks = true});
  for (const std::string who : {"", "jane:pw@"}) {
    Client client({.host = "localhost",
                   .port = server.port(),
                   .tls = ClientTls{.ca_pem = TestAuthority::Get().ca.certificate_pem},
                   .proxy_url = fmt::format("socks5h://{}127.0.0.1:{}", who, proxy.port())});
    const auto answer = client.Send({});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->body, "nobody");
  }
  ASSERT_EQ(proxy.Seen().size(), 2U);
  EXPECT_THAT(proxy.Seen()[0], HasSubstr("localhost")) << "the proxy resolves the name";
  EXPECT_THAT(proxy.Seen()[1], HasSubstr("jane"));
}

TEST(Client, SaysWhatIsWrongWithAProxy) {
  const auto error = [](const std::string& url) {
    Client client({.port = 1, .tls = ClientTls{}, .proxy_url = url});
    return client.Send({}).error().message;
  };
  ProxyStandIn refusing({.refusal = "407 Proxy Authentication Required"});
  EXPECT_THAT(error(fmt::format("http://127.0.0.1:{}", refusing.port())),
              HasSubstr("refuses to connect to 127.0.0.1:1: 407 Proxy Authentication Required"));
  EXPECT_THAT(error("ftp://proxy"), HasSubstr("does not begin with http://"));
  EXPECT_THAT(error("http://"), HasSubstr("no valid host and port"));
  EXPECT_THAT(error("http://jane:secret@proxy:99999"), Not(HasSubstr("secret")));
  EXPECT_THAT(error("http://127.0.0.1:1"), HasSubstr("cannot connect to the proxy 127.0.0.1:1"));
}

}  // namespace
}  // namespace berth::http
