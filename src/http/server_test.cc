// Tests the server on real sockets: both protocols, plain and with TLS, certificates, start and
// end.
#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "http/client.h"
#include "http/gzip.h"
#include "http/testing/socket_peer.h"

namespace berth::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::string_view kPlainGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

ClientOptions ClientFor(const TestServer& server, bool tls) {
  ClientOptions options{.port = server.port()};
  if (tls) options.tls = ClientTls{.ca_pem = TestAuthority::Get().ca.certificate_pem};
  return options;
}

class BothWays : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Http1, BothWays, testing::Bool(),
                         [](const auto& way) { return way.param ? "Tls" : "Plain"; });

TEST_P(BothWays, ServesManyRequestsOnOneConnection) {
  TestServer server(GetParam());
  Client client(ClientFor(server, GetParam()));
  for (int i = 0; i < 100; ++i) {
    const auto answer = client.Send({.method = "PUT", .target = "/x?y", .body = "body"});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->code, 200);
    EXPECT_EQ(answer->body, "PUT /x body");
  }
  EXPECT_EQ(server.server->stats().connections, 1U);
  EXPECT_EQ(server.server->stats().requests_http1, 100U);
}

TEST_P(BothWays, CarriesLargeBodiesBothWays) {
  TestServer server(GetParam(), {}, [](Request request, const Responder& respond) {
    const auto body = std::make_shared<const std::string>(std::move(request.body));
    Pieces pieces;
    for (int i = 0; i < 8; ++i) pieces.Add(body);
    respond.Finish({.body = std::move(pieces)});
  });
  Client client(ClientFor(server, GetParam()));
  std::string body(3U << 20, 'x');
  for (size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  const auto answer = client.Send({.method = "POST", .body = body});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_EQ(answer->body.size(), 8 * body.size());
  EXPECT_TRUE(answer->body.ends_with(body));
}

TEST_P(BothWays, LetsAClientReadTheRefusalOfItsBody) {
  TestServer server(GetParam());
  Client client(ClientFor(server, GetParam()));
  const auto answer = client.Send({.method = "POST", .body = std::string((3U << 20) + 1, 'x')});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->code, 413);
  EXPECT_THAT(answer->body, HasSubstr("3145728"));
  const auto next = client.Send({});
  ASSERT_TRUE(next.has_value()) << next.error().message;
  EXPECT_EQ(next->code, 200);
}

TEST_P(BothWays, AnswersRequestsSentAhead) {
  TestServer server(GetParam());
  SocketPeer peer = GetParam() ? server.Http1() : server.Plain();
  std::string many;
  for (int i = 0; i < 200; ++i) many += kPlainGet;
  many += "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  const std::string answers = peer.Exchange(many, "/last ");
  size_t count = 0;
  for (size_t at = answers.find("HTTP/1.1 200"); at != std::string::npos;
       at = answers.find("HTTP/1.1 200", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 201U);
  EXPECT_EQ(peer.Receive(), "");
}

TEST(Server, ServesHttp2) {
  TestServer server(true);
  SocketPeer peer = server.Http2();
  H2Peer h2(1U << 24);
  const std::string body(3U << 20, 'x');
  const int32_t small = h2.Ask("GET", "/small");
  const int32_t large = h2.Ask("POST", "/large", body);
  const int32_t over = h2.Ask("POST", "/over", body + "x");
  ASSERT_TRUE(peer.Talk(h2, [&] {
    return h2.answer(small).closed && h2.answer(large).closed && h2.answer(over).closed;
  }));
  EXPECT_EQ(h2.answer(small).body, "GET /small ");
  EXPECT_EQ(h2.answer(large).body, "POST /large " + body);
  EXPECT_EQ(h2.Status(over), "413");
  EXPECT_EQ(server.server->stats().requests_http2, 2U);
}

TEST(Server, FinishesFromAnotherThread) {
  base::Mutex mutex;
  std::vector<std::thread> threads;
  TestServer server(true, {}, [&](const Request& request, const Responder& respond) {
    base::MutexLock lock(mutex);
    threads.emplace_back([respond, path = request.path] {
      respond.Finish({.body = path});
      respond.Finish({.code = 500});
    });
  });
  SocketPeer peer = server.Http2();
  H2Peer h2;
  std::vector<int32_t> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(h2.Ask("GET", "/" + std::to_string(i)));
  ASSERT_TRUE(peer.Talk(h2, [&] {
    return std::ranges::all_of(ids, [&](int32_t id) { return h2.answer(id).closed.has_value(); });
  }));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(h2.answer(ids[static_cast<size_t>(i)]).body, "/" + std::to_string(i));
  }
  base::MutexLock lock(mutex);
  for (std::thread& thread : threads) thread.join();
}

TEST(Server, IgnoresAnswersToClientsAndServersThatAreGone) {
  base::Mutex mutex;
  std::vector<Responder> kept;
  const auto count = [&] {
    base::MutexLock lock(mutex);
    return kept.size();
  };
  {
    TestServer server(false, {}, [&](const Request&, const Responder& respond) {
      base::MutexLock lock(mutex);
      kept.push_back(respond);
    });
    SocketPeer gone = server.Plain();
    gone.Send(kPlainGet);
    ASSERT_TRUE(TestServer::Eventually([&] { return count() == 1; }));
    gone.Close();
    kept[0].Finish({.body = "nobody"});
    ASSERT_TRUE(
        TestServer::Eventually([&] { return server.server->stats().connections_now == 0; }));
    kept[0].Finish({.body = "nobody"});
    kept[0].Stream(200, {}, nullptr);
    SocketPeer there = server.Plain();
    there.Send(kPlainGet);
    ASSERT_TRUE(TestServer::Eventually([&] { return count() == 2; }));
    kept[0].Finish({.body = "still nobody"});
    kept[1].Finish({.body = "somebody"});
    EXPECT_THAT(there.ReceiveUntil("somebody"), EndsWith("somebody"));
  }
  for (const Responder& respond : kept) respond.Finish({.body = "no server"});
  Responder().Finish({});
}

TEST(Server, CompressesLargeAnswersForThoseWhoTakeIt) {
  const std::string body(200'000, 'x');
  TestServer server(false, {}, [&](const Request&, const Responder& respond) {
    respond.Finish({.body = body, .compress = true});
  });
  Client client(ClientFor(server, false));
  const auto packed = client.Send({.headers = {{"accept-encoding", "gzip, deflate"}}});
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(packed->headers.Find("content-encoding"), "gzip");
  EXPECT_EQ(packed->headers.Find("vary"), "Accept-Encoding");
  EXPECT_LT(packed->body.size(), 10'000U);
  const auto plain = client.Send({});
  EXPECT_EQ(plain->body, body);
  EXPECT_FALSE(plain->headers.Find("content-encoding"));
}

TEST(Server, ShapesErrorsAsTold) {
  ServerOptions options;
  options.on_error = [](int code, std::string_view text) {
    return Response{.code = code, .headers = {{"x-shaped", "1"}}, .body = std::string(text)};
  };
  base::SystemClock clock;
  base::Logger log({}, clock);
  Server server(std::move(options), TestServer::Echo, log, clock);
  ASSERT_TRUE(server.Start().has_value());
  SocketPeer peer(server.port());
  EXPECT_THAT(peer.Exchange("nonsense\r\n\r\n", "valid HTTP"), HasSubstr("X-Shaped: 1\r\n"));
}

// --- certificates --------------------------------------------------------------------------------

void AnswerWithIdentity(const Request& request, const Responder& respond) {
  std::string text = request.peer->address.substr(0, 10) + (request.peer->tls ? "tls " : "plain ");
  if (const auto& identity = request.peer->identity) {
    text += identity->common_name;
    for (const std::string& group : identity->organizations) text += "," + group;
  }
  respond.Finish({.body = text + ";" + request.peer->certificate_error + "."});
}

/// Returns the identity that the server gives a client with this certificate.
std::string IdentityOf(const TestServer& server, const KeyPair& certificate) {
  ClientOptions options = ClientFor(server, true);
  options.tls->certificate_pem = certificate.certificate_pem;
  options.tls->key_pem = certificate.key_pem;
  Client client(options);
  const auto answer = client.Send({});
  return answer ? answer->body : answer.error().message;
}

TEST(Server, KnowsWhoPresentsAVerifiedCertificate) {
  const TestAuthority& authority = TestAuthority::Get();
  TestServer server(true, {}, AnswerWithIdentity);
  const KeyPair client =
      MakeClient(authority.ca, "jane", {"system:masters", "dev"}, authority.validity).value();
  EXPECT_EQ(IdentityOf(server, client), "127.0.0.1:tls jane,system:masters,dev;.");
  EXPECT_EQ(IdentityOf(server, {}), "127.0.0.1:tls ;.");
}

TEST(Server, SaysWhyACertificateGivesNoIdentity) {
  const TestAuthority& authority = TestAuthority::Get();
  TestServer server(true, {}, AnswerWithIdentity);
  const KeyPair other_ca = MakeAuthority("other", authority.validity).value();
  const KeyPair stranger = MakeClient(other_ca, "jane", {"dev"}, authority.validity).value();
  EXPECT_EQ(IdentityOf(server, stranger), "127.0.0.1:tls ;unable to get local issuer certificate.");
  const Validity past{.from = authority.validity.from - std::chrono::hours(48),
                      .length = std::chrono::hours(24)};
  const KeyPair expired = MakeClient(authority.ca, "jane", {}, past).value();
  EXPECT_EQ(IdentityOf(server, expired), "127.0.0.1:tls ;certificate has expired.");
  // A serving certificate does not identify a client.
  EXPECT_EQ(IdentityOf(server, authority.serving),
            "127.0.0.1:tls ;unsuitable certificate purpose.");
}

TEST(Server, ChangesCertificatesWhileRunning) {
  const TestAuthority& authority = TestAuthority::Get();
  TestServer server(true);
  Client before(ClientFor(server, true));
  ASSERT_TRUE(before.Send({}).has_value());

  EXPECT_FALSE(server.server->ReloadTls({.certificate_pem = "x", .key_pem = "y"}).has_value());
  Client same(ClientFor(server, true));
  EXPECT_TRUE(same.Send({}).has_value()) << "nothing has changed";

  const KeyPair ca = MakeAuthority("new-ca", authority.validity).value();
  const KeyPair serving = MakeServing(ca, {"n", {}, {"127.0.0.1"}}, authority.validity).value();
  const KeyPair mixed{.certificate_pem = serving.certificate_pem,
                      .key_pem = authority.serving.key_pem};
  const auto refused = server.server->ReloadTls(
      {.certificate_pem = mixed.certificate_pem, .key_pem = mixed.key_pem});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("does not belong"));
  ASSERT_TRUE(
      server.server
          ->ReloadTls({.certificate_pem = serving.certificate_pem, .key_pem = serving.key_pem})
          .has_value());
  EXPECT_TRUE(before.Send({}).has_value()) << "who is there stays";
  Client old_trust(ClientFor(server, true));
  EXPECT_FALSE(old_trust.Send({}).has_value());
  ClientOptions options = ClientFor(server, true);
  options.tls->ca_pem = ca.certificate_pem;
  Client new_trust(options);
  EXPECT_TRUE(new_trust.Send({}).has_value());
}

// --- beginning and end ---------------------------------------------------------------------------

TEST(Server, SaysWhyItCannotStart) {
  TestServer first;
  base::SystemClock clock;
  base::Logger log({}, clock);
  const auto fail = [&](const ServerOptions& options) {
    Server server(options, TestServer::Echo, log, clock);
    const auto started = server.Start();
    return started ? "" : started.error().message;
  };
  ServerOptions taken;
  taken.port = first.port();
  EXPECT_EQ(fail(taken), "cannot listen on 127.0.0.1:" + std::to_string(first.port()) +
                             ": Address already in use");
  ServerOptions nonsense;
  nonsense.addresses = {"localhost"};
  EXPECT_EQ(fail(nonsense), "localhost is not an IP address");
  ServerOptions certificate;
  certificate.tls = TlsSettings{.certificate_pem = "", .key_pem = ""};
  EXPECT_EQ(fail(certificate), "the serving certificate holds no certificate in PEM form");
}

TEST(Server, ListensOnSeveralAddresses) {
  ServerOptions options;
  options.addresses = {"127.0.0.1", "127.0.0.2"};
  base::SystemClock clock;
  base::Logger log({}, clock);
  Server server(std::move(options), TestServer::Echo, log, clock);
  ASSERT_TRUE(server.Start().has_value());
  for (const char* host : {"127.0.0.1", "127.0.0.2"}) {
    Client client({.host = host, .port = server.port()});
    EXPECT_TRUE(client.Send({}).has_value()) << host;
  }
}

TEST(Server, DrainsRequestsUnderWay) {
  base::Mutex mutex;
  std::vector<Responder> kept;
  TestServer server(true, {}, [&](const Request&, const Responder& respond) {
    base::MutexLock lock(mutex);
    kept.push_back(respond);
  });
  SocketPeer idle = server.Http1();
  SocketPeer busy = server.Http1();
  busy.Send(kPlainGet);
  SocketPeer peer2 = server.Http2();
  H2Peer h2;
  const int32_t id = h2.Ask("GET", "/");
  peer2.Send(h2.Take());
  ASSERT_TRUE(TestServer::Eventually([&] {
    base::MutexLock lock(mutex);
    return kept.size() == 2;
  }));
  EXPECT_FALSE(server.server->Drain(milliseconds(50))) << "two requests are under way";
  EXPECT_EQ(idle.Receive(), "") << "closed";
  idle.Close();
  EXPECT_FALSE(server.Plain().connected());
  std::thread finisher([&] {
    for (const Responder& respond : kept) respond.Finish({.body = "last"});
  });
  std::string answer;
  std::thread reader([&] {
    answer = busy.ReceiveAll();
    busy.Close();
  });
  std::thread reader2([&] {
    peer2.Talk(h2, [&] { return h2.answer(id).closed && h2.goaway; });
    peer2.Close();
  });
  EXPECT_TRUE(server.server->Drain(seconds(20)));
  finisher.join();
  reader.join();
  reader2.join();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("last"));
  EXPECT_EQ(h2.answer(id).body, "last");
  EXPECT_EQ(h2.goaway, NGHTTP2_NO_ERROR);
  server.server->Stop();
  server.server->Stop();
}

}  // namespace
}  // namespace berth::http
