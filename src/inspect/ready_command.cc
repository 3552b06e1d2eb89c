#include "inspect/ready_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/uint128.h"
#include "codec/json.h"
#include "inspect/blockers.h"
#include "ip/addr.h"
#include "rules/names.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::RangeKind;

/// Returns a command that gives a manifest, whose lines end with a newline, to kubectl.
std::string CreateCommand(std::string_view manifest) {
  return fmt::format("kubectl create -f - <<'EOF'\n{}EOF", manifest);
}

std::string InNamespace(const Service& service) {
  return fmt::format("{} -n {}", ShellWord(service.object.name),
                     ShellWord(service.object.name_space));
}

std::string Quoted(std::string_view text) { return codec::WriteJson(codec::Value(text)); }

/// Returns the version of the API that has ServiceCIDRs: they became stable with Kubernetes 1.33.
std::string_view CidrVersion(const Cluster& cluster) {
  constexpr std::string_view kMinor = "v1.";
  constexpr int kStable = 33;
  if (cluster.server != ServerKind::kKubernetes || !cluster.version.starts_with(kMinor)) {
    return "networking.k8s.io/v1";
  }
  int minor = 0;
  for (const char c : std::string_view(cluster.version).substr(kMinor.size())) {
    if (c < '0' || c > '9' || minor > kStable) break;
    minor = minor * 10 + (c - '0');
  }
  return minor < kStable ? "networking.k8s.io/v1beta1" : "networking.k8s.io/v1";
}

/// Returns a name for a ServiceCIDR that replaces this one.
std::string NextName(const Cluster& cluster, const std::string& name) {
  for (int i = 2;; ++i) {
    std::string next = fmt::format("{}-{}", name, i);
    const bool known = std::ranges::any_of(cluster.ranges, [&](const Range& range) {
      return range.facts.range.kind == RangeKind::kServiceCidr && range.facts.object.name == next;
    });
    if (!known) return next;
  }
}

/// Returns the CIDRs of the new object, in the order of the old one.
std::vector<std::string> NewCidrs(const Range& old, const std::vector<WrittenRange>& to) {
  std::vector<std::string> cidrs;
  for (const alloc::RangeFacts::Part& part : old.facts.range.parts) {
    const auto next = std::ranges::find(to, part.pool, &WrittenRange::pool);
    cidrs.push_back(next == to.end() ? part.row.text : next->text);
  }
  return cidrs;
}

std::vector<ReadyCommand> ReplaceCidr(const Cluster& cluster, const RangeRef& range,
                                      const std::vector<WrittenRange>& to) {
  std::string manifest =
      fmt::format("apiVersion: {}\nkind: ServiceCIDR\nmetadata:\n  name: {}\nspec:\n  cidrs:\n",
                  CidrVersion(cluster), Quoted(NextName(cluster, range.row->name)));
  for (const std::string& cidr : NewCidrs(*range.range, to)) {
    manifest += fmt::format("  - {}\n", Quoted(cidr));
  }
  return {{.title = "Create a ServiceCIDR with the new range", .command = CreateCommand(manifest)},
          {.title = "Delete the old one, which then gives out nothing new",
           .command = fmt::format("kubectl delete servicecidr {} --wait=false",
                                  ShellWord(range.row->name))}};
}

std::vector<ReadyCommand> PatchRange(const RangeRef& range, const WrittenRange& to, bool blocked) {
  const std::string_view resource = range.row->kind == RangeKind::kNodePortRange
                                        ? "nodeportranges.allocation.berth.io"
                                        : "ipranges.allocation.berth.io";
  const auto patch = [&](codec::Value spec) {
    return fmt::format("kubectl patch {} {} --type=merge -p {}", resource,
                       ShellWord(range.row->name),
                       ShellWord(codec::WriteJson(codec::Object{{"spec", std::move(spec)}})));
  };
  const std::string change = patch(codec::Object{{"range", to.text}});
  if (blocked) {
    return {{.title = "Let it give out nothing new",
             .command = patch(codec::Object{{"disabled", true}})},
            {.title = "Change the range, when nothing is in the way any more", .command = change}};
  }
  return {{.title = "Ask the server, without a change", .command = change + " --dry-run=server"},
          {.title = "Change the range", .command = change}};
}

}  // namespace

std::string ShellWord(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_./:,=@%+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool IsObjectName(std::string_view name) { return rules::Dns1123SubdomainProblems(name).empty(); }

std::vector<ReadyCommand> CommandsFor(const Service& service) {
  if (!IsObjectName(service.object.name) || !IsObjectName(service.object.name_space)) return {};
  return {{.title = "Describe the Service",
           .command = "kubectl describe service " + InNamespace(service)},
          {.title = "Show its manifest",
           .command = fmt::format("kubectl get service {} -o yaml", InNamespace(service))},
          {.title = "Ask who it is",
           .command =
               fmt::format("berth whois {}/{}", service.object.name_space, service.object.name)}};
}

std::vector<ReadyCommand> CommandsFor(const alloc::PoolValue& value) {
  return {{.title = "Ask who has it", .command = "berth whois " + alloc::TextOf(value)}};
}

ReadyCommand ReserveCommand(const alloc::PoolValue& value) {
  const bool port = value.pool == PoolId::kPorts;
  std::string manifest =
      fmt::format("apiVersion: allocation.berth.io/v1alpha1\nkind: {}\nmetadata:\n  name: \"{}\"\n",
                  port ? "NodePort" : "IPAddress", base::ToDecimal(value.value));
  manifest +=
      port ? "spec: {}\n" : fmt::format("spec:\n  address: {}\n", Quoted(alloc::TextOf(value)));
  return {.title = "Reserve it, so that no Service gets it", .command = CreateCommand(manifest)};
}

ReadyCommand BlockersCommand(const RangeRef& range) {
  return {.title = "See what is in the way of a change of its range",
          .command = "berth blockers " + ShellWord(range.row->text)};
}

std::vector<ReadyCommand> ChangeCommands(const Cluster& cluster, const RangeRef& range,
                                         const std::vector<WrittenRange>& to, bool blocked) {
  const auto next = std::ranges::find(to, range.pool, &WrittenRange::pool);
  if (next == to.end() || range.range == nullptr || range.row->leaving) return {};
  const bool berth = IsOfBerth(cluster, range);
  if (range.pool == PoolId::kPorts && !berth) {
    return {{.title = "Set this flag of each API server (kube-apiserver), and restart it",
             .command = "--service-node-port-range=" + next->text}};
  }
  if (range.range->given || !IsObjectName(range.row->name)) return {};
  if (range.row->kind == RangeKind::kServiceCidr) return ReplaceCidr(cluster, range, to);
  return PatchRange(range, *next, blocked);
}

}  // namespace berth::inspect
