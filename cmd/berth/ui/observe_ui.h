// What `berth observe --ui` adds to an observer: its flags, and the page that they describe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "berth/ui/observer_page.h"
#include "history/history.h"
#include "http/tls_settings.h"
#include "kube/access.h"

namespace berth::cli {

/// The arguments as given.
struct ObserveUiArguments {
  bool ui = false;
  std::vector<std::string> hosts = {};
  std::string client_ca_file = {};
  std::vector<std::string> allowed_names = {};
  std::vector<std::string> user_headers = {};
  std::vector<std::string> group_headers = {};
  int session_seconds = 8 * 3600;
  int check_seconds = 60;
  std::string version = {};  ///< Of Berth.
};

/// Checks the arguments, and adds the authority of the trusted proxy to the settings. `at_rest`
/// says that there is no cluster that could say who people are.
base::Result<void> AddObserveUi(const ObserveUiArguments& arguments, bool at_rest,
                                std::optional<http::TlsSettings>& tls);

/// What the page is made from. Everything must outlive it.
struct ObserveUiParts {
  const ObserveUiArguments& arguments;
  history::History& history;
  const base::Clock& clock;
  std::optional<kube::Access> access = {};  ///< Of the cluster, if it is followed.
  const http::TlsSettings* tls = nullptr;   ///< Null without TLS.
  std::string base_url = {};  ///< "http://127.0.0.1:9464", filled in before the first link.
};
base::Result<std::unique_ptr<ObserverPage>> MakeObserverPage(const ObserveUiParts& parts);

/// Returns what checks the Host of requests for /api/v1 on loopback, where all programs may read.
/// Without it, a web site whose name leads to this machine could read too.
ui::OriginCheck LoopbackNames(const ObserveUiArguments& arguments);

}  // namespace berth::cli
