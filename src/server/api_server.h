// The Kubernetes HTTP surface: authenticates, authorizes, counts and routes every request, and
// sends one answer to it.
//
// Threads: Handle is called on io threads, several at once. The parts must outlive every request,
// so http::Server has to be stopped before an ApiServer is destroyed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/random.h"
#include "http/message.h"
#include "http/responder.h"
#include "obs/audit_log.h"
#include "server/authenticate.h"
#include "server/call.h"
#include "server/discovery.h"
#include "server/health.h"
#include "server/in_flight.h"
#include "server/openapi_v2.h"
#include "server/openapi_v3.h"
#include "server/parts.h"
#include "server/request_metrics.h"

namespace berth::server {

struct ApiOptions {
  std::string version = "0.0.0";  // Of Berth, for /version.
  size_t max_reads = 400;         // At once: --max-requests-inflight.
  size_t max_writes = 200;        // At once: --max-mutating-requests-inflight.
};

class ApiServer {
 public:
  /// `audit` may be null.
  ApiServer(const Parts& parts, ApiOptions options, const Authenticator& authenticator,
            const Health& health, obs::AuditLog* audit, const base::SeededRandom& random);

  void Handle(http::Request request, http::Responder responder);

  /// Returns the answer to bytes that could not be parsed as a request.
  static http::Response BadRequest(int code, std::string_view text);

  /// Lets `extra` answer all requests at or below a path ("/berth/v1/snapshot"). It is called on io
  /// threads. All paths must be added before the first request.
  using Extra = std::function<void(const CallPtr&)>;
  void AddPath(std::string path, Extra extra);

 private:
  void AddMetrics();
  std::string NewId() EXCLUDES(mutex_);
  bool Admit(Call& call);
  void ServePlain(const CallPtr& call);
  bool ServeDocument(const CallPtr& call);
  void ServeOpenApiV3(const CallPtr& call);
  void ServeOpenApiV2(const CallPtr& call);
  void FailProxy(const CallPtr& call);
  void ServeResource(const CallPtr& call, std::string_view verb);
  std::string VersionDocument() const;

  const Parts parts_;
  const ApiOptions options_;
  const Authenticator& authenticator_;
  const Health& health_;
  obs::AuditLog* const audit_;
  const Discovery discovery_;
  const OpenApiV3 openapi_v3_;
  const OpenApiV2 openapi_v2_;
  RequestMetrics requests_;
  InFlight reads_;
  InFlight writes_;
  std::vector<std::pair<std::string, Extra>> extras_;

  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
};

}  // namespace berth::server
