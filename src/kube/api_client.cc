#include "kube/api_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "base/base64.h"
#include "kube/status.h"

namespace berth::kube {
namespace {

using base::Reason;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int kUnauthorizedCode = 401;
constexpr int kForbiddenCode = 403;
constexpr int kNotFoundCode = 404;
constexpr int kTooManyRequestsCode = 429;
/// A page of objects that are as large as a server accepts, or a whole list in one page.
constexpr size_t kLargestPage = size_t{1} << 30;
/// The wait if a busy server does not say how long.
constexpr seconds kBusyPause{1};

/// Reads a Retry-After in seconds. Its other form, a date, is not used by API servers.
seconds RetryAfter(const http::ClientResponse& answer, const ServerStatus& status) {
  int64_t count = status.retry_after_seconds;
  if (const auto header = answer.headers.Find("retry-after")) {
    std::from_chars(header->data(), header->data() + header->size(), count);
  }
  return seconds(std::clamp<int64_t>(count, 0, 3600));
}

bool IsBusy(const Failure& failure) {
  return failure.code == kTooManyRequestsCode ||
         (failure.code >= 500 && failure.retry_after.count() > 0);
}

Failure NoAnswer(base::Error error, const std::string& where) {
  error.message = fmt::format("cannot reach the server {}: {}", where, error.message);
  return {.error = std::move(error)};
}

}  // namespace

struct ApiClient::Attempts {
  bool delivered = false;   // The sink has seen bytes.
  bool identified = false;  // A new identity was tried.
  int connections = 0;
  int busy = 0;
  nanoseconds waited{0};
};

ApiClient::ApiClient(Access access, ApiClientContext context, Patience patience)
    : access_(std::move(access)), context_(std::move(context)), patience_(patience) {}

std::string ApiClient::Where() const {
  return access_.origin.empty() ? access_.url : fmt::format("{} ({})", access_.url, access_.origin);
}

Answer<http::ClientResponse> ApiClient::Get(const ApiRequest& request, const http::BodySink& sink) {
  return SendPatiently(request, "", sink);
}

Answer<http::ClientResponse> ApiClient::Post(const ApiRequest& request, std::string_view review) {
  return SendPatiently(request, review, nullptr);
}

Answer<http::ClientResponse> ApiClient::SendPatiently(const ApiRequest& request,
                                                      std::string_view review,
                                                      const http::BodySink& sink) {
  Attempts attempts;
  http::BodySink noting;
  if (sink) {
    noting = [&](const http::ClientResponse& head, std::string_view part) {
      attempts.delivered = attempts.delivered || !part.empty();
      return sink(head, part);
    };
  }
  for (;;) {
    auto answer = Send(request, review, noting);
    if (answer) return answer;
    if (answer.error().code == kUnauthorizedCode && access_.credentials != nullptr &&
        !std::exchange(attempts.identified, true) &&
        access_.credentials->OnUnauthorized(identity_)) {
      continue;
    }
    const auto pause = Pause(answer.error(), attempts);
    if (!pause || !Sleep(*pause)) return answer;
  }
}

std::optional<nanoseconds> ApiClient::Pause(const Failure& failure, Attempts& attempts) {
  if (attempts.delivered || (context_.stop != nullptr && context_.stop->IsRaised())) {
    return std::nullopt;
  }
  nanoseconds pause{0};
  if (IsBusy(failure)) {
    if (++attempts.busy >= patience_.busy_answers) return std::nullopt;
    pause = failure.retry_after.count() > 0 ? failure.retry_after : kBusyPause;
  } else if (failure.code == 0 && failure.error.reason == Reason::kServiceUnavailable) {
    if (++attempts.connections >= patience_.connections) return std::nullopt;
    pause = patience_.first_pause * (1 << std::min(attempts.connections - 1, 20));
  } else {
    return std::nullopt;
  }
  // A part at random, so that clients that were refused together do not come back together.
  pause +=
      nanoseconds(base::Uniform(context_.random, static_cast<uint64_t>(pause.count() / 4) + 1));
  attempts.waited += pause;
  if (attempts.waited > patience_.longest_wait) return std::nullopt;
  return pause;
}

bool ApiClient::Sleep(nanoseconds time) const {
  if (context_.sleep) return context_.sleep(time);
  if (context_.stop != nullptr) return context_.stop->SleepFor(time);
  std::this_thread::sleep_for(time);
  return true;
}

base::Result<void> ApiClient::UseIdentity() {
  Identity next;
  if (access_.credentials != nullptr) {
    auto got = access_.credentials->Get();
    if (!got) return tl::unexpected(std::move(got.error()));
    next = *std::move(got);
  }
  // A certificate belongs to the connection, a token to the request.
  const bool same_connection = client_ != nullptr &&
                               next.certificate_pem == identity_.certificate_pem &&
                               next.key_pem == identity_.key_pem;
  identity_ = std::move(next);
  if (same_connection) return {};
  http::ClientOptions options = access_.client;
  if (options.tls && !identity_.certificate_pem.empty()) {
    options.tls->certificate_pem = identity_.certificate_pem;
    options.tls->key_pem = identity_.key_pem;
  }
  options.stop = context_.stop;
  options.body_limit = kLargestPage;
  client_ = std::make_unique<http::Client>(std::move(options));
  return {};
}

http::ClientRequest ApiClient::Prepared(const ApiRequest& request, std::string_view review) const {
  http::ClientRequest prepared{
      .target = access_.path_prefix + request.path,
      .headers = {{"Accept", request.accept}, {"User-Agent", "berth"}},
      .time_limit = request.endless ? nanoseconds(0) : access_.request_timeout,
      .read_timeout = request.read_timeout};
  if (!review.empty()) {
    prepared.method = "POST";
    prepared.headers.Add("Content-Type", "application/json");
    prepared.body = review;
  }
  if (!identity_.token.empty()) {
    prepared.headers.Add("Authorization", "Bearer " + identity_.token);
  } else if (!identity_.user.empty() || !identity_.password.empty()) {
    prepared.headers.Add("Authorization",
                         "Basic " + base::Base64(identity_.user + ":" + identity_.password));
  }
  for (const auto& [name, value] : access_.headers) prepared.headers.Add(name, value);
  return prepared;
}

Answer<http::ClientResponse> ApiClient::Send(const ApiRequest& request, std::string_view review,
                                             const http::BodySink& sink) {
  if (auto used = UseIdentity(); !used) {
    // The message names the file or the program. Another attempt would do the same again.
    used.error().reason = Reason::kUnauthorized;
    return tl::unexpected(Failure{.error = std::move(used.error())});
  }
  auto answer = client_->Send(Prepared(request, review), sink);
  if (!answer) return tl::unexpected(NoAnswer(std::move(answer.error()), Where()));
  if (answer->code / 100 != 2) return tl::unexpected(Refused(request, *answer));
  return *std::move(answer);
}

Failure ApiClient::Refused(const ApiRequest& request, const http::ClientResponse& answer) const {
  ServerStatus status = ReadStatus(answer.code, answer.body);
  Failure failure{.code = answer.code,
                  .continue_token = std::move(status.continue_token),
                  .retry_after = RetryAfter(answer, status)};
  std::string message;
  if (answer.code == kForbiddenCode) {
    message = fmt::format("{}, says the server {}", MissingRight(status.message), Where());
  } else if (answer.code == kUnauthorizedCode) {
    message =
        fmt::format("the server {} does not accept the credentials: {}", Where(), status.message);
  } else if (answer.code == kNotFoundCode) {
    message = fmt::format("the server {} does not have {}: {}", Where(),
                          request.path.substr(0, request.path.find('?')), status.message);
  } else if (answer.code / 100 == 3) {
    message = fmt::format("the server {} redirects to {}, which is not followed", Where(),
                          answer.headers.Find("location").value_or("another address"));
  } else {
    message = fmt::format("the server {} answered {}: {}", Where(), answer.code, status.message);
  }
  failure.error = {.reason = status.reason, .message = std::move(message)};
  return failure;
}

}  // namespace berth::kube
