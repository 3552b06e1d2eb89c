#include "berth/flags/serve_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "berth/exit_code.h"
#include "berth/serve/arguments.h"
#include "berth/serve/config_file.h"
#include "berth/serve/serve_command.h"
#include "berth/store/open.h"

namespace berth::cli {
namespace {

constexpr const char* kHelp =
    "Serves the Kubernetes API for Services\n"
    "\n"
    "Without flags it serves https://127.0.0.1:6443, for this machine only. It keeps its store,\n"
    "its certificates and an administrator's kubeconfig in the data directory, and prints the\n"
    "command that lets kubectl use it.";

constexpr const char* kExamples =
    "Every flag can also be set in the file that --config names, without the dashes\n"
    "(secure-port: 6443). Command-line flags override the file. On SIGTERM the server shuts down\n"
    "cleanly. On SIGHUP it reloads certificates and tokens.\n"
    "\n"
    "Examples:\n"
    "  berth serve\n"
    "  berth serve --data-dir /var/lib/berth --bind-address 0.0.0.0 \\\n"
    "    --service-cluster-ip-range 10.96.0.0/16,fd00:10:96::/112\n"
    "  berth serve --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379 \\\n"
    "    --etcd-cafile ca.pem --etcd-certfile berth.pem --etcd-keyfile berth-key.pem\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 2 for invalid arguments or files, 1 for other errors.";

}  // namespace

struct ServeCommand::State {
  CLI::App* command = nullptr;
  ServeArguments arguments;

  template <typename T>
  void Add(const char* name, T& into, const char* help, const char* value, const char* group) {
    command->add_option(name, into, help)->option_text(value)->group(group);
  }

  void Add(const char* name, int64_t& into, const char* help, const char* value,
           const char* group) {
    const auto read = [name, &into](const CLI::results_t& given) {
      const auto number = ParseFlagInt(name, given.front());
      if (!number) throw CLI::ConversionError(number.error().message);
      into = *number;
      return true;
    };
    command->add_option(name, read, help)->option_text(value)->group(group);
  }

  void AddFlags() {
    ServeArguments& a = arguments;
    const char* serving = "Serving";
    Add("--data-dir", a.data_dir,
        "Directory for the store and credentials (default ~/.local/share/berth)", "DIR", serving);
    Add("--config", a.config, "Configuration file", "FILE", serving);
    Add("--bind-address", a.bind_address, "Address to listen on (default 127.0.0.1)", "IP",
        serving);
    Add("--advertise-address", a.advertise_address,
        "Address at which others reach the server (default that of the machine)", "IP", serving);
    Add("--secure-port", a.secure_port, "Port to listen on; 0 for any free port (default 6443)",
        "PORT", serving);
    Add("--tls-cert-file", a.tls_cert_file, "Serving certificate, instead of Berth's own", "FILE",
        serving);
    Add("--tls-private-key-file", a.tls_private_key_file, "Key of the serving certificate", "FILE",
        serving);
    Add("--max-requests-inflight", a.max_requests_inflight,
        "Concurrent reads; 0 for no limit (default 400)", "N", serving);
    Add("--max-mutating-requests-inflight", a.max_mutating_requests_inflight,
        "Concurrent writes; 0 for no limit (default 200)", "N", serving);
    const char* access = "Access control";
    Add("--client-ca-file", a.client_ca_file,
        "CAs whose client certificates are accepted, besides Berth's own", "FILE", access);
    Add("--token-auth-file", a.token_auth_file,
        "Tokens, as lines of token,user,uid,\"group,group\"", "FILE", access);
    Add("--audit-log-path", a.audit_log_path,
        "Audit log; - for standard output, none for no log (default DIR/audit.jsonl)", "FILE",
        access);
    Add("--audit-log-maxsize", a.audit_log_maxsize,
        "Size in MiB at which the audit log is rotated (default 100)", "MIB", access);
    Add("--audit-log-maxbackup", a.audit_log_maxbackup, "Rotated audit logs to keep (default 5)",
        "N", access);
    const char* addresses = "Addresses and ports";
    Add("--service-cluster-ip-range", a.service_cluster_ip_range,
        "One CIDR, or two of different families (default 10.96.0.0/16)", "CIDR[,CIDR]", addresses);
    Add("--service-node-port-range", a.service_node_port_range,
        "Range of node ports (default 30000-32767)", "FIRST-LAST", addresses);
    Add("--feature-gates", a.feature_gates, "Feature gates; an unknown name lists the known ones",
        "NAME=true|false,...", addresses);
    Add("--auditor-interval", a.auditor_interval,
        "Seconds between checks of the store; 0 for on request only (default 5)", "SECONDS",
        addresses);
    const char* store = "Store";
    Add("--history-bytes", a.history_bytes,
        "Size of the history for watches and pages (default 268435456, 256 MiB)", "BYTES", store);
    command->add_option("--etcd-servers", a.etcd_servers, "Use this etcd cluster as the store")
        ->delimiter(',')
        ->option_text("URL[,URL...]")
        ->group(store);
    Add("--etcd-prefix", a.etcd_prefix, "Prefix of keys in etcd (default /registry)", "PREFIX",
        store);
    Add("--etcd-cafile", a.etcd_cafile, "CA that signed etcd's certificate", "FILE", store);
    Add("--etcd-certfile", a.etcd_certfile, "Client certificate for etcd", "FILE", store);
    Add("--etcd-keyfile", a.etcd_keyfile, "Key of the client certificate", "FILE", store);
  }

  /// Notes which range flags an operator has set, on the command line or in the file.
  void NoteRangesGiven() {
    const auto given = [this](const char* flag) { return command->get_option(flag)->count() > 0; };
    arguments.cluster_ip_range_given = given("--service-cluster-ip-range");
    arguments.node_port_range_given = given("--service-node-port-range");
  }

  /// Applies the settings of the file that the command line does not set.
  base::Result<void> TakeConfig() {
    if (arguments.config.empty()) return {};
    const auto settings = ReadConfigFile(arguments.config);
    if (!settings) return tl::unexpected(settings.error());
    for (const auto& [name, value] : *settings) {
      CLI::Option* option = command->get_option_no_throw("--" + name);
      if (option == nullptr || name == "config" || name == "help") {
        return base::Fail(
            base::Reason::kInvalid,
            fmt::format("--config: {}: unknown setting {}; berth serve --help lists the settings",
                        arguments.config, name));
      }
      if (option->count() > 0) continue;
      try {
        option->add_result(value);
        option->run_callback();
      } catch (const CLI::ParseError& error) {
        return base::Fail(base::Reason::kInvalid,
                          fmt::format("--config: {}: {}", arguments.config, error.what()));
      }
    }
    return {};
  }
};

ServeCommand::ServeCommand(CLI::App& program) : state_(std::make_unique<State>()) {
  state_->command = program.add_subcommand("serve", kHelp);
  state_->command->footer(kExamples);
  state_->AddFlags();
}

ServeCommand::~ServeCommand() = default;

std::optional<int> ServeCommand::Run(const std::string& version) const {
  if (!state_->command->parsed()) return std::nullopt;
  if (const auto taken = state_->TakeConfig(); !taken) return ReportError("serve", taken.error());
  state_->NoteRangesGiven();
  return RunServe(state_->arguments, version);
}

}  // namespace berth::cli
