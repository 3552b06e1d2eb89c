#include "berth/ui/team_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/json.h"
#include "codec/read.h"
#include "ui/answers.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr size_t kSignInThreads = 4;
constexpr size_t kSignInWaiting = 32;
constexpr size_t kMaxSignIn = size_t{32} << 10;  // A token may name many groups.
constexpr size_t kMaxName = 1024;
constexpr size_t kMaxGroups = 256;
constexpr int kNoContent = 204;

/// Returns the address of a client without its port.
std::string AddressOf(const http::Peer& peer) {
  return peer.address.substr(0, peer.address.rfind(':'));
}

Result<std::string> TokenOf(const http::Request& request) {
  const std::string_view type = request.headers.Find("content-type").value_or("");
  // A form of another site cannot send this type.
  if (!type.starts_with("application/json")) {
    return base::Fail(Reason::kUnsupportedMediaType, "sign in with application/json");
  }
  if (request.body.size() > kMaxSignIn) {
    return base::Fail(Reason::kRequestEntityTooLarge, "the token is too long");
  }
  const auto document = codec::ParseJson(request.body);
  const codec::Value* given = document ? codec::FindAt(*document, "token") : nullptr;
  const std::string* token = given == nullptr ? nullptr : given->AsString();
  if (token == nullptr || token->empty()) {
    return base::Fail(Reason::kBadRequest, "give the token as {\"token\": \"...\"}");
  }
  return *token;
}

http::Response WhyNot(const base::Error& error) {
  switch (error.reason) {
    case Reason::kUnauthorized:
    case Reason::kForbidden:
    case Reason::kBadRequest:
    case Reason::kUnsupportedMediaType:
    case Reason::kRequestEntityTooLarge:
      return ui::ErrorAnswer(error);
    case Reason::kTooManyRequests: {
      http::Response response = ui::ErrorAnswer(error);
      response.headers.Add("retry-after", "5");
      return response;
    }
    default: {
      http::Response response = ui::ErrorAnswer(
          503, fmt::format("the cluster does not say whether you may see this: {}", error.message));
      response.headers.Add("retry-after", "5");
      return response;
    }
  }
}

}  // namespace

bool TrustedProxy::IsIt(const http::Peer& peer) const {
  if (!peer.identity) return false;
  return names.empty() || std::ranges::find(names, peer.identity->common_name) != names.end();
}

std::optional<ui::Credential> TrustedProxy::WhoIs(const http::Request& request) const {
  if (!IsIt(*request.peer)) return std::nullopt;
  ui::Credential who;
  for (const std::string& header : user_headers) {
    const auto values = request.headers.FindAll(header);
    if (values.empty()) continue;
    if (values.size() > 1 || values.front().size() > kMaxName) return std::nullopt;
    who.user = values.front();
    break;
  }
  if (who.user.empty()) return std::nullopt;
  for (const std::string& header : group_headers) {
    for (const std::string_view group : request.headers.FindAll(header)) {
      if (group.size() > kMaxName || who.groups.size() >= kMaxGroups) return std::nullopt;
      who.groups.emplace_back(group);
    }
  }
  return who;
}

TeamDoor::TeamDoor(Parts parts)
    : parts_(std::move(parts)),
      origins_(parts_.origins),
      sessions_(parts_.judge, parts_.clock,
                {.name = ui::NewCookieName(parts_.origins.tls), .secure = parts_.origins.tls},
                parts_.limits, [this] { parts_.hub.Wake(); }),
      workers_(kSignInThreads, kSignInWaiting),
      checks_([this] { sessions_.CheckDue(); }) {}

Visitor TeamDoor::VisitorOf(const ui::Sessions::Pointer& session) const {
  return {.user = session->user(),
          .expires = session->expires(),
          .is_open = [session, &clock = parts_.clock] { return session->IsOpen(clock); }};
}

void TeamDoor::Ask(const http::Responder& responder, std::function<void()> work) {
  if (workers_.Run(std::move(work))) return;
  http::Response busy = ui::ErrorAnswer(503, "too many people sign in; try again in a moment");
  busy.headers.Add("retry-after", "5");
  responder.Finish(ui::Secured(std::move(busy)));
}

void TeamDoor::SignIn(const http::Request& request, const http::Responder& responder) {
  auto token = TokenOf(request);
  if (!token) {
    responder.Finish(ui::Secured(WhyNot(token.error())));
    return;
  }
  Ask(responder, [this, responder, token = *std::move(token), client = AddressOf(*request.peer)] {
    const auto session = sessions_.SignIn(token, client);
    if (!session) {
      responder.Finish(ui::Secured(WhyNot(session.error())));
      return;
    }
    http::Response response{.code = kNoContent, .headers = {{"cache-control", "no-store"}}};
    response.headers.AddUnique("set-cookie", sessions_.CookieOf(**session));
    responder.Finish(ui::Secured(std::move(response)));
  });
}

void TeamDoor::HandleSession(const http::Request& request, const http::Responder& responder) {
  if (request.method == "POST") {
    SignIn(request, responder);
    return;
  }
  if (request.method == "DELETE") {
    sessions_.SignOut(request);
    http::Response response{.code = kNoContent, .headers = {{"cache-control", "no-store"}}};
    response.headers.AddUnique("set-cookie", sessions_.NoCookie());
    responder.Finish(ui::Secured(std::move(response)));
    return;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refusal = ui::ErrorAnswer(405, "a session can be read, opened and ended");
    refusal.headers.Add("allow", "GET, HEAD, POST, DELETE");
    responder.Finish(ui::Secured(std::move(refusal)));
    return;
  }
  const auto session = sessions_.Find(request);
  const std::optional<Visitor> visitor =
      session == nullptr ? std::nullopt : std::optional(VisitorOf(session));
  responder.Finish(ui::Secured(parts_.web.SessionAnswer(visitor ? &*visitor : nullptr)));
}

void TeamDoor::HandleProxied(const ui::Credential& who, const http::Request& request,
                             const http::Responder& responder) {
  if (const auto known = sessions_.FindNamed(who)) {
    Visitor visitor = VisitorOf(known);
    visitor.expires.reset();  // The proxy decides, and the next session begins by itself.
    parts_.web.Serve(request, responder, visitor);
    return;
  }
  Ask(responder, [this, who, request, responder] {
    const auto admitted = sessions_.AdmitNamed(who);
    if (!admitted) {
      responder.Finish(ui::Secured(WhyNot(admitted.error())));
      return;
    }
    Visitor visitor = VisitorOf(*admitted);
    visitor.expires.reset();
    parts_.web.Serve(request, responder, visitor);
  });
}

void TeamDoor::Handle(const http::Request& request, const http::Responder& responder) {
  const bool is_page = request.path == "/";
  if (const auto refused =
          origins_.WhyRefused(request, is_page ? ui::Asked::kPage : ui::Asked::kData)) {
    responder.Finish(ui::Secured(ui::ErrorAnswer(403, *refused)));
    return;
  }
  const bool from_proxy = parts_.proxy && parts_.proxy->IsIt(*request.peer);
  if (parts_.web.assets().Has(request.path)) {
    parts_.web.Serve(request, responder, {});
  } else if (from_proxy) {
    const auto who = parts_.proxy->WhoIs(request);
    if (who) {
      HandleProxied(*who, request, responder);
    } else {
      responder.Finish(ui::Secured(ui::ErrorAnswer(401, "the proxy does not say who you are")));
    }
  } else if (request.path == kSessionPath) {
    HandleSession(request, responder);
  } else if (const auto session = sessions_.Find(request)) {
    parts_.web.Serve(request, responder, VisitorOf(session));
  } else {
    responder.Finish(ui::Secured(ui::ErrorAnswer(401, "sign in first")));
  }
}

}  // namespace berth::cli
