#include "berth/flags_serve.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "berth/exit_code.h"
#include "berth/serve/arguments.h"
#include "berth/serve/command.h"
#include "berth/serve/config_file.h"
#include "berth/store/open.h"

namespace berth::cli {
namespace {

constexpr const char* kHelp =
    "Serves the Kubernetes API for Services\n"
    "\n"
    "Without any flag: on https://127.0.0.1:6443, for this machine alone, with a store, an "
    "authority\n"
    "and an admin's credential of its own in the data directory. It prints the line that lets\n"
    "kubectl use it.";

constexpr const char* kExamples =
    "Every flag can also stand in the file that --config names, without its dashes (secure-port: "
    "6443);\n"
    "what is given on the command line counts more. SIGTERM ends it cleanly; on SIGHUP "
    "certificates\n"
    "and tokens are read again.\n"
    "\n"
    "Examples:\n"
    "  berth serve\n"
    "  berth serve --data-dir /var/lib/berth --bind-address 0.0.0.0 \\\n"
    "    --service-cluster-ip-range 10.96.0.0/16,fd00:10:96::/112\n"
    "  berth serve --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379 \\\n"
    "    --etcd-cafile ca.pem --etcd-certfile berth.pem --etcd-keyfile berth-key.pem\n"
    "\n"
    "Exit status: 0 if it was told to end, 2 if an argument or a file it names is not right, else "
    "1.";

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
    Add("--data-dir", a.data_dir, "Store and credentials; ~/.local/share/berth unless given", "DIR",
        serving);
    Add("--config", a.config, "A file with these settings", "FILE", serving);
    Add("--bind-address", a.bind_address, "Where to listen; 127.0.0.1 unless given", "IP", serving);
    Add("--secure-port", a.secure_port, "6443 unless given; 0 is any that is free", "PORT",
        serving);
    Add("--tls-cert-file", a.tls_cert_file, "A serving certificate of your own", "FILE", serving);
    Add("--tls-private-key-file", a.tls_private_key_file, "Its key", "FILE", serving);
    Add("--max-requests-inflight", a.max_requests_inflight,
        "Reads worked on at once; 400 unless given, 0 for any number", "N", serving);
    Add("--max-mutating-requests-inflight", a.max_mutating_requests_inflight,
        "The same for writes; 200 unless given", "N", serving);
    const char* who = "Who may";
    Add("--client-ca-file", a.client_ca_file,
        "Authorities whose client certificates are believed, beside Berth's own", "FILE", who);
    Add("--token-auth-file", a.token_auth_file, "Lines of token,user,uid,\"group,group\"", "FILE",
        who);
    Add("--audit-log-path", a.audit_log_path,
        "Who did what; audit.jsonl in the data directory unless given, - or none", "FILE", who);
    Add("--audit-log-maxsize", a.audit_log_maxsize, "MiB before it is rotated; 100 unless given",
        "MIB", who);
    Add("--audit-log-maxbackup", a.audit_log_maxbackup, "Rotated files to keep; 5 unless given",
        "N", who);
    const char* addresses = "Addresses and ports";
    Add("--service-cluster-ip-range", a.service_cluster_ip_range,
        "One CIDR, or two of different families; 10.96.0.0/16 unless given", "CIDR[,CIDR]",
        addresses);
    Add("--service-node-port-range", a.service_node_port_range, "30000-32767 unless given",
        "FIRST-LAST", addresses);
    Add("--feature-gates", a.feature_gates, "Switches; an unknown name lists those there are",
        "NAME=true|false,...", addresses);
    const char* store = "Store";
    Add("--history-bytes", a.history_bytes,
        "Past states kept for watches and pages; 268435456 (256 MiB) unless given", "BYTES", store);
    command->add_option("--etcd-servers", a.etcd_servers, "Keep state in this etcd instead")
        ->delimiter(',')
        ->option_text("URL[,URL...]")
        ->group(store);
    Add("--etcd-prefix", a.etcd_prefix, "Where in etcd; /registry unless given", "PREFIX", store);
    Add("--etcd-cafile", a.etcd_cafile, "Who signs etcd's certificate", "FILE", store);
    Add("--etcd-certfile", a.etcd_certfile, "The certificate to show to etcd", "FILE", store);
    Add("--etcd-keyfile", a.etcd_keyfile, "Its key", "FILE", store);
  }

  /// What the file says, where the command line said nothing.
  base::Result<void> TakeConfig() {
    if (arguments.config.empty()) return {};
    const auto settings = ReadConfigFile(arguments.config);
    if (!settings) return tl::unexpected(settings.error());
    for (const auto& [name, value] : *settings) {
      CLI::Option* option = command->get_option_no_throw("--" + name);
      if (option == nullptr || name == "config" || name == "help") {
        return base::Fail(
            base::Reason::kInvalid,
            fmt::format("--config: {}: there is no setting {}; they are those of berth "
                        "serve --help",
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
  return RunServe(state_->arguments, version);
}

}  // namespace berth::cli
