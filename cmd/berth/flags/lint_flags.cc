#include "berth/flags/lint_flags.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "berth/inspect/lint_command.h"

namespace berth::cli {
namespace {

constexpr const char* kLintHelp =
    "Checks the addresses and node ports in manifests before they are applied\n"
    "\n"
    "It finds hard-coded cluster IPs and node ports that a dynamic pick can take first, that are\n"
    "taken, asked for twice, or outside every range; health check ports that collide; IP families\n"
    "that cannot be served; and node ports that the nodes use themselves. Each finding has its\n"
    "place, the reason, and a value that is safe instead.\n"
    "\n"
    "Without a cluster the ranges come from --service-cidr and --node-port-range. Node ports are\n"
    "assumed to be 30000-32767; addresses are checked against ranges only if you give them. With\n"
    "--cluster or any flag of the group CLUSTER, the manifests are checked against that cluster.";

constexpr const char* kLintExamples =
    "PATH is a manifest in YAML or JSON, a folder (*.yaml, *.yml and *.json below it, except "
    "hidden\n"
    "ones), or - for standard input. Render templates first.\n"
    "\n"
    "--host-ports adds to the usual ports of Kubernetes nodes (kubelet, etcd, ...). A file has "
    "lines\n"
    "such as \"9000 minio\".\n"
    "\n"
    "To ignore a finding, write the rule and a reason after the value, or on the line above:\n"
    "  nodePort: 30088 # berth-lint: ignore dynamic-band the port is in a contract\n"
    "or annotate the Service with\n"
    "  lint.berth.io/ignore: dynamic-band,host-port the reason\n"
    "\n"
    "Examples:\n"
    "  berth lint deploy/\n"
    "  berth lint deploy/ --service-cidr 10.96.0.0/16 --cluster\n"
    "  helm template web ./chart | berth lint - --namespace shop\n"
    "  kubectl get services -A -o json | berth lint deploy/ -f -\n"
    "  berth lint deploy/ --format github       in a workflow of GitHub Actions\n"
    "\n"
    "Exit status: 0 if nothing was found, 1 for errors and warnings (see --fail-on), 2 for "
    "invalid\n"
    "arguments and for files that cannot be read.";

}  // namespace

void AddLint(CommandSet& commands) {
  const auto arguments = std::make_shared<LintArguments>();
  CLI::App& lint = commands.Add("lint", kLintHelp, kLintExamples,
                                [arguments] { return RunLint(*arguments, BERTH_VERSION); });
  lint.add_option("PATH", arguments->paths, "Manifests and folders of manifests")
      ->required()
      ->option_text("...");
  lint.add_option("-o,--output,--format", arguments->format,
                  "Output format: text, json, yaml, github, sarif or junit (default text)")
      ->option_text("FORMAT");
  lint.add_option("--fail-on", arguments->fail_on,
                  "Least severity for exit status 1: error, warning or note (default warning)")
      ->option_text("SEVERITY");
  lint.add_option("-n,--namespace", arguments->name_space,
                  "Namespace of Services that name none (default: that of the context, or default)")
      ->option_text("NAME");
  lint.add_option("--ephemeral-range", arguments->ephemeral_range,
                  "Ports of outgoing connections on the nodes (default 32768-60999)")
      ->option_text("PORTS");
  lint.add_option("--host-ports", arguments->host_ports,
                  "More ports that the nodes use: 9000,9100-9110 or a file; none drops the usual")
      ->option_text("LIST|FILE")
      ->expected(1)
      ->take_all();
  lint.add_flag("--cluster", arguments->cluster,
                "Check against the cluster that kubectl would use");
  AddSourceFlags(lint, arguments->source, "CLUSTER (no cluster, if none of these is given)");
}

}  // namespace berth::cli
