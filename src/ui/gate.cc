#include "ui/gate.h"

#include <algorithm>
#include <utility>

#include "ui/answers.h"

namespace berth::ui {
namespace {

constexpr size_t kUsedLinks = 16;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;

constexpr const char* kWhatToDo =
    "The page opens with the link that stands in the terminal where Berth runs. Each link works "
    "once, in one browser. If it was used, a new one stands in the terminal.";

/// Browsers and chat programs look at links before anybody follows them.
bool IsLookAhead(const http::Request& request) {
  if (request.method != "GET") return true;
  for (const char* name : {"sec-purpose", "purpose", "x-moz"}) {
    const auto purpose = request.headers.Find(name);
    if (purpose && purpose->find("pre") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string Gate::NewLink() {
  const base::MutexLock lock(mutex_);
  link_ = NewSecret();
  return std::string(kLinkPath) + link_;
}

Gate::Opened Gate::Open(const http::Request& request) {
  const std::string_view given = std::string_view(request.path).substr(kLinkPath.size());
  const base::MutexLock lock(mutex_);
  if (IsSame(link_, given)) {
    if (IsLookAhead(request)) {
      return {.response = PageAnswer({.code = kForbidden,
                                      .title = "Not opened yet",
                                      .paragraphs = {"The link still works. Follow it."}}),
              .visit = Visit::kNotYet};
    }
    used_.push_back(std::exchange(link_, {}));
    if (used_.size() > kUsedLinks) used_.pop_front();
    Opened opened{.response = PageAnswer({.title = "Berth", .go_on = true}),
                  .visit = Visit::kOpened};
    opened.response.headers.AddUnique("set-cookie", SetCookie(cookie_, pass_));
    return opened;
  }
  bool used = false;
  for (const std::string& link : used_) used = IsSame(link, given) || used;
  return {.response = PageAnswer({.code = kUnauthorized,
                                  .title = used ? "This link was used" : "This link does not work",
                                  .paragraphs = {kWhatToDo},
                                  .go_on = used}),
          .visit = used ? Visit::kUsedBefore : Visit::kUnknown};
}

bool Gate::MayPass(const http::Request& request) const {
  bool may = false;
  for (const std::string_view value : FindCookies(request.headers, cookie_.name)) {
    may = IsSame(pass_, value) || may;
  }
  return may;
}

http::Response Gate::Closed() {
  return PageAnswer(
      {.code = kUnauthorized, .title = "This page needs its link", .paragraphs = {kWhatToDo}});
}

}  // namespace berth::ui
