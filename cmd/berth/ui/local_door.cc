#include "berth/ui/local_door.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "ui/answers.h"

namespace berth::cli {
namespace {

constexpr std::chrono::seconds kBetweenLinks{5};

}  // namespace

std::string LinkText(std::string_view source, std::string_view link) {
  return fmt::format(
      "The ranges of {} are at\n\n  {}\n\nThe link works once, in one browser. The page only "
      "reads. "
      "Ctrl-C ends it.\n",
      source, link);
}

std::string NewLinkText(std::string_view link) {
  return fmt::format(
      "\nThe link was opened again. If that was you, in another browser, this is a new one:\n\n"
      "  {}\n",
      link);
}

void LocalDoor::Listen(uint16_t port, const std::string& host) {
  ui::OriginOptions options{.hosts = ui::LoopbackHosts(port)};
  if (!host.empty()) options.hosts.push_back(host);
  const base::MutexLock lock(mutex_);
  origins_ = std::make_shared<ui::OriginCheck>(std::move(options));
}

std::optional<std::string> LocalDoor::WhyRefused(const http::Request& request, ui::Asked asked) {
  std::shared_ptr<const ui::OriginCheck> origins;
  {
    const base::MutexLock lock(mutex_);
    origins = origins_;
  }
  if (origins == nullptr) return "the server is not ready yet";
  return origins->WhyRefused(request, asked);
}

void LocalDoor::OpenLink(const http::Request& request, const http::Responder& responder) {
  ui::Gate::Opened opened = gate_.Open(request);
  responder.Finish(ui::Secured(std::move(opened.response)));
  // A browser that follows a link of another site does not show its cookie, and needs no new link.
  if (opened.visit != ui::Gate::Visit::kUsedBefore || gate_.MayPass(request)) return;
  {
    const base::MutexLock lock(mutex_);
    const base::SteadyTime now = clock_.Steady();
    if (new_link_at_ && now - *new_link_at_ < kBetweenLinks) return;
    new_link_at_ = now;
  }
  on_used_again_(gate_.NewLink());
}

void LocalDoor::Handle(const http::Request& request, const http::Responder& responder) {
  const bool is_link = request.path.starts_with(ui::Gate::kLinkPath);
  const bool is_page = is_link || request.path == "/";
  const auto refused = WhyRefused(request, is_page ? ui::Asked::kPage : ui::Asked::kData);
  if (refused) {
    responder.Finish(ui::Secured(ui::ErrorAnswer(403, *refused)));
    return;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (is_link && reads) {
    OpenLink(request, responder);
    return;
  }
  if (!gate_.MayPass(request)) {
    responder.Finish(ui::Secured(
        is_page ? ui::Gate::Closed()
                : ui::ErrorAnswer(401, "open the page with the link that stands in the terminal")));
    return;
  }
  web_.Serve(request, responder, {});
}

}  // namespace berth::cli
