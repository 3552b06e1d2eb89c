// The flags of `berth observe`.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "berth/flags/command_set.h"
#include "berth/observe/observe_command.h"

namespace berth::cli {
namespace {

constexpr const char* kObserveHelp =
    "Remembers who held which address and port, and serves metrics\n"
    "\n"
    "It reads a cluster and never writes to it. The history stays within a number of days and\n"
    "bytes. It answers who held a value at any time in the past, and says what it cannot know.";

constexpr const char* kObserveExamples =
    "Without -f it follows the cluster that kubectl would use, and keeps trying while the API\n"
    "server is away.\n"
    "\n"
    "It serves /metrics for Prometheus, /readyz, /livez, and answers as JSON: /api/v1/top,\n"
    "/api/v1/whois?value=10.96.0.10&at=2026-01-02T15:04:05Z, /api/v1/history?value=30080 or\n"
    "?service=shop/web, /api/v1/use?range=10.96.0.0/16.\n"
    "\n"
    "Two observers may look at one cluster. Each needs a data directory of its own.\n"
    "\n"
    "Examples:\n"
    "  kubectl get services -A -o json | berth observe --once -f - --data-dir /var/lib/observer\n"
    "  berth observe --data-dir /var/lib/observer\n"
    "  berth observe --context prod --data-dir /var/lib/prod --listen 127.0.0.1:9465\n"
    "  curl 'http://127.0.0.1:9464/api/v1/whois?value=10.96.0.10'\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

/// Adds the flags about the page. Those of a proxy have the names that kube-apiserver has for them.
void AddPageFlags(CLI::App& observe, ObserveUiArguments& page) {
  const char* group = "PAGE";
  observe.add_flag("--ui", page.ui, "Serve the page of berth ui too, with the history")
      ->group(group);
  const auto add = [&](const char* name, auto& into, const char* help, const char* value) {
    return observe.add_option(name, into, help)->option_text(value)->group(group);
  };
  const auto add_list = [&](const char* name, std::vector<std::string>& into, const char* help,
                            const char* value) {
    add(name, into, help, value)->expected(1)->allow_extra_args(false)->take_all();
  };
  add_list("--ui-host", page.hosts,
           "Name under which browsers reach the observer, beside those of its certificate; may be "
           "repeated",
           "NAME");
  add("--ui-session-seconds", page.session_seconds,
      "How long people stay signed in at the longest (default 28800)", "SECONDS");
  add("--ui-check-seconds", page.check_seconds,
      "How often it is checked that they still may (default 60)", "SECONDS");
  add("--requestheader-client-ca-file", page.client_ca_file,
      "Authority of the certificate of a proxy that checks who people are", "FILE");
  add_list("--requestheader-allowed-names", page.allowed_names,
           "Common name of that certificate (default: any); may be repeated", "NAME");
  add_list("--requestheader-username-headers", page.user_headers,
           "Header in which it names the user (default X-Remote-User); may be repeated", "HEADER");
  add_list("--requestheader-group-headers", page.group_headers,
           "Header in which it names groups (default X-Remote-Group); may be repeated", "HEADER");
}

}  // namespace

void AddObserve(CommandSet& commands) {
  const auto arguments = std::make_shared<ObserveArguments>();
  arguments->page.version = BERTH_VERSION;
  CLI::App& observe = commands.Add("observe", kObserveHelp, kObserveExamples,
                                   [arguments] { return RunObserve(*arguments); });
  AddSourceFlags(observe, arguments->source);
  // Here the data directory is the observer's own, and a store at rest does not change.
  for (const char* flag : {"--data-dir", "--snapshot"}) {
    observe.remove_option(observe.get_option(flag));
  }
  const auto add = [&](const char* name, auto& into, const char* help, const char* value) {
    observe.add_option(name, into, help)->option_text(value);
  };
  add("--data-dir", arguments->data_dir, "Folder for the history of this cluster", "DIR");
  observe.add_flag("--once", arguments->once,
                   "Record what the source shows now, and end: for a cron job");
  add("--keep-days", arguments->keep_days, "How long the history is kept (default 90)", "DAYS");
  add("--keep-bytes", arguments->keep_bytes, "How large the history may get (default 1Gi)", "SIZE");
  add("--listen", arguments->listen, "Address to serve on (default 127.0.0.1:9464)",
      "ADDRESS:PORT");
  add("--max-lag", arguments->max_lag,
      "Not ready if the cluster was last seen longer ago (default 60)", "SECONDS");
  add("--tls-cert-file", arguments->tls_cert_file, "Certificate to serve with, in PEM", "FILE");
  add("--tls-private-key-file", arguments->tls_private_key_file, "Its private key, in PEM", "FILE");
  AddPageFlags(observe, arguments->page);
}

}  // namespace berth::cli
