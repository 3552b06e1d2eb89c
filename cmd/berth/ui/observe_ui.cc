#include "berth/ui/observe_ui.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "base/go_text.h"
#include "berth/files.h"
#include "berth/terminal.h"
#include "berth/ui/scene_past.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

Result<void> CheckHosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (!host.empty() && host.find_first_of(":/@ ") == std::string::npos) continue;
    return base::Fail(Reason::kInvalid,
                      fmt::format("--ui-host {}: must be a name without a port, such as "
                                  "ranges.example.com",
                                  base::GoQuoted(host)));
  }
  return {};
}

std::vector<std::string> HeadersOr(const std::vector<std::string>& given, const char* otherwise) {
  if (given.empty()) return {otherwise};
  std::vector<std::string> headers;
  for (const std::string& header : given) headers.push_back(base::InLowerCase(header));
  return headers;
}

Result<TeamAccess> TeamAccessOf(const ObserveUiParts& parts) {
  TeamAccess team{.cluster = *parts.access, .names = {"localhost"}};
  auto names = NamesOfCertificate(parts.tls->certificate_pem);
  if (!names) return tl::unexpected(names.error());
  team.names.insert(team.names.end(), names->begin(), names->end());
  const ObserveUiArguments& arguments = parts.arguments;
  team.names.insert(team.names.end(), arguments.hosts.begin(), arguments.hosts.end());
  team.limits.lifetime = std::chrono::seconds(arguments.session_seconds);
  team.limits.check_every = std::chrono::seconds(arguments.check_seconds);
  if (!arguments.client_ca_file.empty()) {
    team.proxy = {.names = arguments.allowed_names,
                  .user_headers = HeadersOr(arguments.user_headers, "x-remote-user"),
                  .group_headers = HeadersOr(arguments.group_headers, "x-remote-group")};
  }
  return team;
}

}  // namespace

Result<void> AddObserveUi(const ObserveUiArguments& arguments, bool at_rest,
                          std::optional<http::TlsSettings>& tls) {
  if (auto checked = CheckHosts(arguments.hosts); !checked) return checked;
  constexpr int kLongest = 30 * 24 * 3600;
  for (const auto& [flag, seconds] : {std::pair("--ui-session-seconds", arguments.session_seconds),
                                      std::pair("--ui-check-seconds", arguments.check_seconds)}) {
    if (seconds >= 1 && seconds <= kLongest) continue;
    return base::Fail(Reason::kInvalid, fmt::format("{}: must be from 1 to {}", flag, kLongest));
  }
  const bool proxied = !arguments.client_ca_file.empty();
  const bool about_proxy = !arguments.allowed_names.empty() || !arguments.user_headers.empty() ||
                           !arguments.group_headers.empty();
  if (about_proxy && !proxied) {
    return base::Fail(Reason::kInvalid,
                      "the flags --requestheader-... need --requestheader-client-ca-file");
  }
  if (proxied && !arguments.ui) {
    return base::Fail(Reason::kInvalid, "--requestheader-client-ca-file needs --ui");
  }
  if (proxied && !tls) {
    return base::Fail(
        Reason::kInvalid,
        "--requestheader-client-ca-file: the proxy shows a client certificate, so TLS is "
        "needed: give --tls-cert-file and --tls-private-key-file");
  }
  if (arguments.ui && tls && at_rest) {
    return base::Fail(Reason::kInvalid,
                      "--ui with -f has no cluster that could say who may read; leave out "
                      "--tls-cert-file, and open the page on this machine");
  }
  if (!proxied) return {};
  auto authority = ReadFlagFile("--requestheader-client-ca-file", arguments.client_ca_file);
  if (!authority) return tl::unexpected(authority.error());
  tls->client_ca_pem = *std::move(authority);
  return {};
}

Result<std::unique_ptr<ObserverPage>> MakeObserverPage(const ObserveUiParts& parts) {
  history::History& history = parts.history;
  ObserverPage::Options options{
      .past = PastOf(history.directory(), [&history] { return history.Flush(); }),
      .version = parts.arguments.version,
      .on_new_link = [&parts](const std::string& path) {
        PrintOut(NewLinkText(parts.base_url + path));
      }};
  if (parts.tls != nullptr && parts.access) {
    auto team = TeamAccessOf(parts);
    if (!team) return tl::unexpected(team.error());
    options.team = *std::move(team);
  }
  return std::make_unique<ObserverPage>(std::move(options), parts.clock);
}

ui::OriginCheck LoopbackNames(const ObserveUiArguments& arguments) {
  std::vector<std::string> names = arguments.hosts;
  names.emplace_back("localhost");
  return ui::OriginCheck({.names = std::move(names), .any_address = true});
}

}  // namespace berth::cli
