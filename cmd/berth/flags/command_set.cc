#include "berth/flags/command_set.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "berth/flags/lint_flags.h"
#include "berth/flags/top_flags.h"

namespace berth::cli {

CLI::App& CommandSet::Add(const char* name, const char* help, const char* examples,
                          std::function<int()> run) {
  CLI::App* app = program_.add_subcommand(name, help);
  app->footer(examples);
  commands_.push_back({.app = app, .run = std::move(run)});
  return *app;
}

std::optional<int> CommandSet::Run() const {
  for (const Command& command : commands_) {
    if (command.app->parsed()) return command.run();
  }
  return std::nullopt;
}

void AddSourceFlags(CLI::App& command, SourceArguments& source, const char* group) {
  const auto add = [&](const char* name, auto& into, const char* help, const char* value) {
    return command.add_option(name, into, help)->option_text(value)->group(group);
  };
  add("-f,--filename", source.files,
      "Objects in JSON or YAML, as kubectl get prints them; - for standard input", "FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add("--data-dir", source.data_dir, "Data directory of Berth that no server uses", "DIR");
  add("--snapshot", source.snapshot, "File of berth snapshot save", "FILE");
  add("--kubeconfig", source.kubeconfig, "Kubeconfig to use", "FILE");
  add("--context", source.context, "Context of the kubeconfig", "NAME");
  add("-s,--server", source.server, "Address of the API server", "URL");
  add("--token", source.token, "Bearer token for the API server", "TOKEN");
  add("--as", source.as, "User to impersonate", "USER");
  add("--as-group", source.as_groups, "Group to impersonate; may be repeated", "GROUP")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add("--request-timeout", source.request_timeout, "Longest time for one request, such as 30s",
      "TIME");
  add("--certificate-authority", source.certificate_authority,
      "Certificates of the authority that the server must have", "FILE");
  command
      .add_flag("--insecure-skip-tls-verify", source.insecure_skip_tls_verify,
                "Do not check the server's certificate")
      ->group(group);
  add("--node-port-range", source.node_port_range,
      "Range of node ports, instead of what the source says", "PORTS");
  add("--service-cidr", source.service_cidrs,
      "Range of addresses, for a source that does not show it; may be repeated", "CIDR")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void AddOutputFlags(CLI::App& command, OutputArguments& output) {
  command
      .add_option("-o,--output", output.format,
                  "Output format: table, wide, json or yaml (default table)")
      ->option_text("FORMAT");
  command.add_flag("-w,--watch", output.watch,
                   "Show the answer again whenever the cluster changes");
}

void AddInspectCommands(CommandSet& commands) {
  AddTop(commands);
  AddForecast(commands);
  AddLint(commands);
  AddWhois(commands);
  AddMap(commands);
  AddBlockers(commands);
  AddUi(commands);
  AddObserve(commands);
}

}  // namespace berth::cli
