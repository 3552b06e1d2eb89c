#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "http/socket_peer.h"
#include "http/source.h"

namespace berth::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Megabytes of the alphabet.
class Long final : public Source {
 public:
  Pulled Pull(Pieces& out, size_t /*room*/) override {
    out.Add(std::string(65'536, static_cast<char>('a' + count_ % 26)));
    return ++count_ == 100 ? Pulled::kEnd : Pulled::kMore;
  }

 private:
  int count_ = 0;
};

void Serve(const Request& request, const Responder& respond) {
  if (request.path == "/long") {
    respond.Stream(200, {{"x-kind", "long"}}, std::make_unique<Long>());
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
  EXPECT_THAT(misnamed.Send({}).error().message, HasSubstr("ostname"));
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

}  // namespace
}  // namespace berth::http
