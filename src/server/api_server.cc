#include "server/api_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/go_text.h"
#include "codec/json.h"
#include "http/head.h"
#include "http/limits.h"
#include "registry/object_errors.h"
#include "server/accept.h"
#include "server/list.h"
#include "server/options.h"
#include "server/server_metrics.h"
#include "server/server_patch.h"
#include "server/server_write.h"
#include "server/status_body.h"
#include "server/watch.h"

namespace berth::server {
namespace {

/// The version of Kubernetes that this server is compatible with, for /version.
constexpr const char* kKubernetesMinor = "36";
constexpr const char* kKubernetesVersion = "v1.36.4";

constexpr const char* kText = "text/plain; charset=utf-8";

/// How long clients may cache a document whose URL contains its hash.
constexpr std::chrono::hours kHashedLife{365 * 24};

bool IsHealth(std::string_view path) {
  for (const std::string_view each : {"/healthz", "/livez", "/readyz"}) {
    if (path == each || path.starts_with(std::string(each) + "/")) return true;
  }
  return false;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Answers with a document, or with 304 if the client has it already.
void AnswerDocument(Call& call, const Document& document, std::string_view cache_control,
                    std::string_view expires = {}) {
  http::Response response;
  response.headers.Add("content-type", document.content_type);
  response.headers.Add("cache-control", cache_control);
  if (!expires.empty()) response.headers.Add("expires", expires);
  if (!document.etag.empty()) {
    response.headers.Add("etag", document.etag);
    response.headers.Add("vary", "Accept");
    if (call.Header("if-none-match") == document.etag) {
      response.code = 304;
      return call.AnswerHeaders(std::move(response));
    }
  }
  response.body.Add(document.body);
  response.compress = true;
  call.AnswerHeaders(std::move(response));
}

/// Returns kUnknown if Kubernetes has no reason for the code, because clients trust a reason more
/// than the code.
base::Reason ReasonOf(int code) {
  switch (code) {
    case 400:
      return base::Reason::kBadRequest;
    case 413:
      return base::Reason::kRequestEntityTooLarge;
    case 429:
      return base::Reason::kTooManyRequests;
    case 503:
      return base::Reason::kServiceUnavailable;
    default:
      return code >= 500 ? base::Reason::kInternalError : base::Reason::kUnknown;
  }
}

/// Rejects names that could mean something else in a path. The rules of the kind check the rest.
std::optional<base::Error> CheckPathName(std::string_view name) {
  std::string why;
  if (name == "." || name == "..") why = fmt::format("may not be '{}'", name);
  if (name.find('%') != std::string_view::npos) why = "may not contain '%'";
  if (why.empty()) return std::nullopt;
  return base::Error{
      .reason = base::Reason::kBadRequest,
      .message = fmt::format("Name parameter invalid: {}: {}", base::GoQuoted(name), why)};
}

}  // namespace

ApiServer::ApiServer(const Parts& parts, ApiOptions options, const Authenticator& authenticator,
                     const Health& health, obs::AuditLog* audit, const base::SeededRandom& random)
    : parts_(parts),
      options_(std::move(options)),
      authenticator_(authenticator),
      health_(health),
      audit_(audit),
      discovery_(parts.registry.GetKinds().Views()),
      openapi_v3_(parts.registry.GetKinds().Views()),
      openapi_v2_(parts.registry.GetKinds().Views()),
      requests_(parts.registry.GetKinds()),
      reads_(options_.max_reads),
      writes_(options_.max_writes),
      random_(random) {
  AddMetrics();
}

void ApiServer::AddMetrics() {
  requests_.AddTo(parts_.metrics);
  parts_.metrics.Add({.name = "apiserver_current_inflight_requests",
                      .help = "Number of requests in flight, without watches",
                      .type = obs::MetricType::kGauge,
                      .labels = {"request_kind"}},
                     [this](obs::Samples& out) {
                       out.Add(static_cast<double>(writes_.Count()), {"mutating"});
                       out.Add(static_cast<double>(reads_.Count()), {"readOnly"});
                     });
}

void ApiServer::AddPath(std::string path, Extra extra) {
  extras_.emplace_back(std::move(path), std::move(extra));
}

std::string ApiServer::NewId() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

http::Response ApiServer::BadRequest(int code, std::string_view text) {
  const std::string message =
      code == 413 ? fmt::format("Request entity too large: limit is {}", http::Limits{}.body_bytes)
                  : std::string(text);
  codec::Value status = FailureStatus({.reason = ReasonOf(code), .message = message});
  status.Set("code", code);
  http::Response response{
      .code = code,
      .headers = {{"content-type", kJsonType}, {"cache-control", "no-cache, private"}},
      .body = codec::WriteJson(status) + "\n"};
  if (code == 429 || code == 503) response.headers.Add("retry-after", "1");
  return response;
}

/// Authenticates and authorizes the request. Returns false if it was refused, and so answered.
bool ApiServer::Admit(Call& call) {
  std::optional<CertificateIdentity> certificate;
  if (call.request.peer->identity) {
    certificate = CertificateIdentity{.common_name = call.request.peer->identity->common_name,
                                      .organizations = call.request.peer->identity->organizations};
  }
  auto user = authenticator_.Authenticate(call.Header("authorization"), certificate);
  if (!user) {
    call.Fail(user.error());
    return false;
  }
  call.attributes.user = *std::move(user);
  if (call.request.headers.Find("impersonate-user")) {
    call.Fail({.reason = base::Reason::kForbidden,
               .message = fmt::format("users \"{}\" is forbidden: impersonation is not supported",
                                      call.Header("impersonate-user"))});
    return false;
  }
  if (const auto error = Authorize(call.attributes)) {
    call.Fail(*error);
    return false;
  }
  return true;
}

void ApiServer::Handle(http::Request request, http::Responder responder) {
  auto call = std::make_shared<Call>(std::move(request), std::move(responder), parts_.clock,
                                     requests_, audit_);
  const std::string_view given_id = call->Header("audit-id");
  call->id = given_id.empty() || given_id.size() > 64 ? NewId() : std::string(given_id);
  call->route = ParseRoute(parts_.registry.GetKinds(), call->request.path);
  Attributes& attributes = call->attributes;
  const Route& route = call->route;
  if (route.kind != Route::Kind::kResource) attributes.path = route.path;
  attributes.verb = LowerCase(call->request.method);
  std::string verb;
  if (route.kind == Route::Kind::kResource) {
    attributes.is_resource = true;
    attributes.group = route.group;
    attributes.version = route.version;
    attributes.resource = route.resource;
    attributes.subresource = route.subresource;
    attributes.name_space = route.name_space;
    attributes.name = route.name;
    verb = VerbOf(route, call->request.method, call->query.Flag("watch"));
    if (!verb.empty()) attributes.verb = verb;
  }
  if (!Admit(*call)) return;
  switch (route.kind) {
    case Route::Kind::kResource:
      return ServeResource(call, verb);
    case Route::Kind::kPlain:
      return ServePlain(call);
    case Route::Kind::kUnknownResource:
      return call->Fail(UnknownResourceError());
    case Route::Kind::kUnknownPath:
      return call->Answer(404, kText, "404 page not found\n");
  }
}

std::string ApiServer::VersionDocument() const {
  return codec::WriteJson(
             codec::Object{
                 {"major", "1"},
                 {"minor", kKubernetesMinor},
                 {"gitVersion", fmt::format("{}+berth.{}", kKubernetesVersion, options_.version)},
                 {"gitCommit", ""},
                 {"gitTreeState", "clean"},
                 {"buildDate", "1970-01-01T00:00:00Z"},
                 {"goVersion", "none"},
                 {"compiler", "g++"},
                 {"platform", "linux/amd64"}},
             {.indent = 2}) +
         "\n";
}

void ApiServer::ServePlain(const CallPtr& call) {
  const std::string& path = call->route.path;
  for (const auto& [prefix, extra] : extras_) {
    if (path == prefix || path.starts_with(prefix + "/")) return extra(call);
  }
  if (ServeDocument(call)) return;
  call->Answer(404, kText, "404 page not found\n");
}

/// Returns false if there is no document at that path.
bool ApiServer::ServeDocument(const CallPtr& call) {
  const std::string& path = call->route.path;
  const bool reads = call->request.method == "GET" || call->request.method == "HEAD";
  if (IsHealth(path)) {
    const auto answer = health_.Ask(path, call->query);
    if (!answer) return false;
    call->Answer(answer->code, kText, answer->text);
    return true;
  }
  const Document* document = discovery_.Find(path, call->Header("accept"));
  const bool openapi = path.starts_with("/openapi/v3") || path == "/openapi/v2";
  const bool metrics = path == "/metrics";
  if (document == nullptr && !openapi && !metrics && path != "/version" && path != "/") {
    return false;
  }
  if (!reads) {
    call->Fail(MethodNotAllowedError());
  } else if (document != nullptr) {
    AnswerDocument(*call, *document, document->etag.empty() ? "no-cache, private" : "public");
  } else if (metrics) {
    HandleMetrics(parts_, call);
  } else if (path == "/version") {
    call->Answer(200, kJsonType, VersionDocument());
  } else if (path == "/openapi/v2") {
    ServeOpenApiV2(call);
  } else if (openapi) {
    ServeOpenApiV3(call);
  } else {
    std::vector<std::string> paths = {"/api", "/api/v1", "/apis"};
    for (const api::Kind* kind : parts_.registry.GetKinds().Views()) {
      std::string version = fmt::format("/apis/{}", kind->api_version);
      if (kind->group.empty() || paths.back() == version) continue;
      paths.push_back(fmt::format("/apis/{}", kind->group));
      paths.push_back(std::move(version));
    }
    paths.insert(paths.end(), {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3",
                               "/readyz", "/version"});
    call->Answer(200, kJsonType, PathsDocument(paths));
  }
  return true;
}

void ApiServer::ServeOpenApiV3(const CallPtr& call) {
  constexpr std::string_view kRoot = "/openapi/v3";
  std::string_view rest = std::string_view(call->route.path).substr(kRoot.size());
  if (rest.empty()) return AnswerDocument(*call, openapi_v3_.Index(), "no-cache, private");
  rest.remove_prefix(1);
  const Document* document = openapi_v3_.Find(rest);
  if (document == nullptr) return call->Answer(404, kText, "404 page not found\n");
  const std::string_view hash = call->query.Get("hash");
  const std::string_view right = openapi_v3_.Hash(rest);
  if (hash.empty()) return AnswerDocument(*call, *document, "no-cache, private");
  if (hash != right) {
    http::Response response{.code = 301};
    response.headers.Add("location", fmt::format("{}/{}?hash={}", kRoot, rest, right));
    return call->AnswerHeaders(std::move(response));
  }
  // kubectl's cache uses this header only. Without it kubectl asks again at every command.
  http::DateText date;
  AnswerDocument(*call, *document, "public, immutable", date.At(parts_.clock.Now() + kHashedLife));
}

void ApiServer::ServeOpenApiV2(const CallPtr& call) {
  const std::string_view accept = call->Header("accept");
  const bool proto = accept.find(kOpenApiV2ProtobufAsked) != std::string_view::npos ||
                     accept.find(kOpenApiV2Protobuf) != std::string_view::npos;
  AnswerDocument(*call, proto ? openapi_v2_.Protobuf() : openapi_v2_.Json(), "no-cache, private");
}

/// Nodes are only objects to this server, so nothing can be reached through them.
void ApiServer::FailProxy(const CallPtr& call) {
  const registry::Served& served = call->route.served;
  const std::string key =
      parts_.registry.GetResources().Key(served.row->resource, {}, call->route.name);
  if (parts_.follower.Current()->Find(key) == nullptr) {
    return call->Fail(registry::NotFound(served.Kind(), call->route.name));
  }
  call->Fail(
      {.reason = base::Reason::kServiceUnavailable,
       .message = fmt::format("{} \"{}\" cannot be reached: this server does not connect to "
                              "{}",
                              served.Kind().plural, call->route.name, served.Kind().plural)});
}

/// An empty `verb` means that the method is not allowed here.
void ApiServer::ServeResource(const CallPtr& call, std::string_view verb) {
  const Route& route = call->route;
  const bool unchanged = route.served.view->repeats != nullptr && !route.IsCollection();
  if (unchanged && call->request.method == "PUT") {
    return call->Fail(registry::ChangedAsStored(route.served, route.name));
  }
  if (verb.empty()) {
    const bool listed = route.served.Kind().listed;
    return call->Fail(listed ? MethodNotAllowedError() : UnknownResourceError());
  }
  if (const std::string_view text = route.served.Kind().deprecation; !text.empty()) {
    call->warnings.emplace_back(text);
  }
  if (route.subresource == "proxy") return FailProxy(call);
  const bool watches = verb == "watch";
  if (verb == "patch") {
    if (const auto error = CheckPatchType(*call)) return call->Fail(*error);
    if (unchanged && !IsApply(*call)) {
      return call->Fail(registry::ChangedAsStored(route.served, route.name));
    }
  }
  auto accept = Negotiate(call->Header("accept"), {.protobuf = route.served.Kind().has_protobuf});
  if (!accept) return call->Fail(accept.error());
  call->accept = *accept;
  if (const auto error = CheckPathName(route.name)) return call->Fail(*error);
  const auto timeout = ParseTimeout(call->query);
  if (!timeout && !watches) return call->Fail(timeout.error());
  if (timeout) call->timeout = *timeout;
  const bool writes = verb != "get" && verb != "list" && !watches;
  if (writes && !route.served.row->strategy.read_only.empty()) {
    return call->Fail({.reason = base::Reason::kMethodNotAllowed,
                       .message = std::string(route.served.row->strategy.read_only),
                       .details = base::Details{}});
  }
  if (!watches) {
    call->slot = (writes ? writes_ : reads_).Take(call->attributes.user.name);
    if (!call->slot) {
      return call->Fail(base::TooManyRequests());
    }
  }
  if (verb == "get") return HandleGet(parts_, call);
  if (verb == "list") return HandleList(parts_, call);
  if (watches) return HandleWatch(parts_, call);
  if (verb == "create") return HandleCreate(parts_, call);
  if (verb == "update") return HandleUpdate(parts_, call);
  if (verb == "patch") return HandlePatch(parts_, call);
  if (verb == "delete") return HandleDelete(parts_, call);
  if (verb == "deletecollection") return HandleDeleteCollection(parts_, call);
  call->Fail(MethodNotAllowedError());
}

}  // namespace berth::server
