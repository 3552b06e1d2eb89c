#include "berth/ui/observer_page.h"

#include <utility>

#include "http/certificates.h"
#include "ui/gate.h"

namespace berth::cli {

ObserverPage::ObserverPage(Options options, const base::Clock& clock)
    : clock_(clock),
      past_(options.past),
      board_(clock),
      web_({.board = board_,
            .clock = clock,
            .team = options.team.has_value(),
            .version = std::move(options.version)}),
      keeper_(std::in_place, board_, std::move(options.past), clock) {
  if (!options.team) {
    local_.emplace(web_, clock, std::move(options.on_new_link));
    return;
  }
  judge_.emplace(std::move(options.team->cluster));
  // Beyond loopback there is always TLS. Addresses count, because no site can take them over.
  team_.emplace(TeamDoor::Parts{
      .web = web_,
      .hub = board_.hub(),
      .judge = *judge_,
      .clock = clock,
      .origins = {.tls = true, .names = std::move(options.team->names), .any_address = true},
      .proxy = std::move(options.team->proxy),
      .limits = options.team->limits});
}

ObserverPage::~ObserverPage() {
  if (judge_) judge_->Stop();
}

void ObserverPage::Show(inspect::Cluster cluster) {
  SceneOptions options{.past = past_.owners};
  if (past_.use) {
    const inspect::Cluster outline{.read_at = cluster.read_at, .ranges = cluster.ranges};
    options.use = past_.use(inspect::Census(outline));
  }
  board_.Show(std::make_shared<const Scene>(std::move(cluster), std::move(options)));
}

std::string ObserverPage::Listen(uint16_t port, const std::string& host) {
  if (!local_) return "";
  local_->Listen(port, host);
  return local_->NewLink();
}

bool ObserverPage::Owns(std::string_view path) const {
  return web_.Owns(path) || path.starts_with(ui::Gate::kLinkPath);
}

void ObserverPage::Handle(const http::Request& request, const http::Responder& responder) {
  if (local_) {
    local_->Handle(request, responder);
  } else {
    team_->Handle(request, responder);
  }
}

base::Result<std::vector<std::string>> NamesOfCertificate(const std::string& pem) {
  auto certificate = http::ReadCertificate(pem);
  if (!certificate) return tl::unexpected(certificate.error());
  return std::move(certificate->dns);
}

}  // namespace berth::cli
