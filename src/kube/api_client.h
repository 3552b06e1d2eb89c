// Sends reads and reviews to an API server on one connection, with the user's identity. It tries
// again when that helps: with a new identity after 401, later when the server is busy, and after a
// lost connection. Not thread-safe; each thread has its own, and they may share the credentials.
//
//   ApiClient client(access, {.random = random});
//   const auto version = client.Get({.path = "/version"});
//   if (!version) Print(version.error().error.message);
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/error.h"
#include "base/random.h"
#include "http/client.h"
#include "http/stop_signal.h"
#include "kube/access.h"

namespace berth::kube {

/// Why a request got no useful answer. The message names the server and where it was configured.
struct Failure {
  base::Error error = {};
  int code = 0;                         ///< The code of the answer, or 0 if there was no answer.
  std::string continue_token = {};      ///< See ServerStatus.
  std::chrono::seconds retry_after{0};  ///< How long the server asks to wait, or 0.
};

template <typename T>
using Answer = tl::expected<T, Failure>;

/// Sleeps for a time. Returns false if the program is told to stop.
using Sleeper = std::function<bool(std::chrono::nanoseconds)>;

/// What the client needs from its surroundings.
struct ApiClientContext {
  base::Random& random;  ///< Spreads attempts. Used in the thread of the client only.
  /// Ends requests and waits when it is raised. May be null.
  std::shared_ptr<const http::StopSignal> stop = {};
  Sleeper sleep = {};  ///< If unset, the client really sleeps.
};

/// How often a request is tried, and how long the client waits in between.
struct Patience {
  int connections = 3;   ///< Attempts to reach the server.
  int busy_answers = 6;  ///< Attempts at a server that answers that it is busy.
  std::chrono::nanoseconds longest_wait = std::chrono::seconds(60);  ///< All waits together.
  /// The first wait after a lost connection. Each further one is twice as long.
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(100);
};

struct ApiRequest {
  std::string path;  ///< With its query: "/api/v1/services?limit=500".
  std::string accept = "application/json";
  /// The longest silence of the server, if another than that of the access.
  std::optional<std::chrono::nanoseconds> read_timeout = {};
  bool endless = false;  ///< A watch, for which Access::request_timeout does not count.
};

class ApiClient {
 public:
  ApiClient(Access access, ApiClientContext context, Patience patience = {});

  /// Returns the answer if its code is 2xx. Everything else is a Failure. A request whose sink has
  /// seen bytes is not tried again.
  Answer<http::ClientResponse> Get(const ApiRequest& request, const http::BodySink& sink = nullptr);

  /// Posts a document in JSON, and returns the answer as Get does. Only for reviews, such as a
  /// TokenReview, which change nothing: a request may be sent again after a lost connection.
  Answer<http::ClientResponse> Post(const ApiRequest& request, std::string_view review);

  /// Returns the server and where it was configured, for messages:
  /// `https://10.0.0.1:6443 (context "prod" of ~/.kube/config)`.
  std::string Where() const;

 private:
  struct Attempts;

  base::Result<void> UseIdentity();
  http::ClientRequest Prepared(const ApiRequest& request, std::string_view review) const;
  /// Sends a request until there is an answer or no use in another attempt. It is a GET if `review`
  /// is empty.
  Answer<http::ClientResponse> SendPatiently(const ApiRequest& request, std::string_view review,
                                             const http::BodySink& sink);
  Answer<http::ClientResponse> Send(const ApiRequest& request, std::string_view review,
                                    const http::BodySink& sink);
  Failure Refused(const ApiRequest& request, const http::ClientResponse& answer) const;
  /// Returns how long to wait before the next attempt, or nullopt if there is no use in one.
  std::optional<std::chrono::nanoseconds> Pause(const Failure& failure, Attempts& attempts);
  bool Sleep(std::chrono::nanoseconds time) const;

  const Access access_;
  const ApiClientContext context_;
  const Patience patience_;
  Identity identity_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace berth::kube
