#include "berth/store/reset_ranges_command.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/layout.h"
#include "api/kinds.h"
#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/serve/arguments.h"
#include "berth/store/offline_parts.h"
#include "berth/store/report.h"
#include "berth/terminal.h"
#include "codec/read.h"
#include "controllers/range_takeover.h"
#include "ip/port_range.h"
#include "registry/deletion.h"
#include "rules/range_spec.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using codec::Value;

constexpr std::string_view kResetRanges = "reset-ranges";
constexpr std::chrono::seconds kResetTick{1};

/// What the flags ask for. What no flag names stays as it is.
struct ResetWanted {
  std::vector<ip::Cidr> cidrs = {};
  std::optional<ip::PortRange> ports = {};
};

/// What a reset changes.
struct ResetPlan {
  bool cidrs = false;
  bool ports = false;
  Facts facts = {};
};

Result<ResetWanted> ParseReset(const ResetRangesArguments& arguments) {
  const auto wrong = [](std::string message) {
    return base::Fail(Reason::kInvalid, std::move(message) + "; see berth reset-ranges --help");
  };
  ResetWanted wanted;
  if (arguments.cluster_ip_range.empty() && arguments.node_port_range.empty()) {
    return wrong("give --service-cluster-ip-range, --service-node-port-range or both");
  }
  if (arguments.data_dir.empty() == arguments.store.empty()) {
    return wrong("give one of --data-dir (a data directory) and --store (a store)");
  }
  if (!arguments.cluster_ip_range.empty()) {
    auto cidrs = ParseServiceRanges(arguments.cluster_ip_range);
    if (!cidrs) return tl::unexpected(cidrs.error());
    wanted.cidrs = *std::move(cidrs);
  }
  if (!arguments.node_port_range.empty()) {
    const auto ports = ip::ParsePortRange(arguments.node_port_range);
    if (!ports) {
      return wrong(fmt::format("--service-node-port-range {}: {}",
                               base::GoQuoted(arguments.node_port_range), ports.error().message));
    }
    wanted.ports = *ports;
  }
  return wanted;
}

/// Returns the outcome of what `begin` starts. Opens fences that a server has left closed, since no
/// server may run that does it.
template <typename T, typename Begin>
Result<T> AwaitReset(OfflineParts& parts, const Begin& begin) {
  const auto answer = std::make_shared<std::promise<Result<T>>>();
  begin([answer](Result<T> outcome) { answer->set_value(std::move(outcome)); });
  std::future<Result<T>> outcome = answer->get_future();
  while (outcome.wait_for(kResetTick) != std::future_status::ready) {
    for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
      parts.allocator.Ranges().OpenIfStale(pool, *parts.follower.Current());
    }
  }
  return outcome.get();
}

std::optional<Value> FindStored(const OfflineParts& parts, const registry::Row& row,
                                std::string_view name) {
  const auto stored = parts.follower.Current()->Find(row.prefix + std::string(name));
  if (stored == nullptr) return std::nullopt;
  auto object = registry::Registry::Decode(row, *stored);
  if (!object) return std::nullopt;
  return *std::move(object);
}

/// Returns "10.5.0.0/24 becomes 10.9.0.0/16".
std::string RangeChangeText(const std::optional<Value>& stored, const std::string& wanted) {
  const std::string has(stored ? codec::StringAt(*stored, "spec", "range") : std::string_view());
  if (has.empty()) return wanted.empty() ? "" : fmt::format("{} is created", wanted);
  if (wanted.empty()) return fmt::format("{} is deleted", has);
  const bool disabled = codec::BoolAt(*stored, "spec", "disabled");
  if (has == wanted) return fmt::format("{} {}", has, disabled ? "is enabled" : "stays");
  return fmt::format("{} becomes {}{}", has, wanted, disabled ? " and is enabled" : "");
}

void PlanCidrs(const OfflineParts& parts, const allocation::RecordRows& rows,
               const std::vector<ip::Cidr>& cidrs, ResetPlan& plan) {
  std::vector<std::string> texts;
  for (const ip::Cidr& cidr : cidrs) texts.push_back(cidr.ToString());
  for (const ip::Family family : {ip::Family::kV4, ip::Family::kV6}) {
    const std::string_view name = rules::WellKnownRange(family);
    std::string wanted;
    for (const ip::Cidr& cidr : cidrs) {
      if (cidr.family() == family) wanted = cidr.ToString();
    }
    const auto stored = FindStored(parts, *rows.ip_ranges, name);
    std::string text = RangeChangeText(stored, wanted);
    const bool first = family == cidrs.front().family();
    const bool primary = stored && codec::BoolAt(*stored, "spec", "primary");
    if (!wanted.empty() && first && !primary) text += ", as the primary range";
    if (!text.empty()) plan.facts.emplace_back(name, text);
    plan.cidrs = plan.cidrs || (!text.empty() && !text.ends_with(" stays"));
  }
  const auto cidr = FindStored(parts, *rows.service_cidrs, allocation::kDefaultServiceCidr);
  const bool leaves = cidr && registry::IsBeingDeleted(*cidr);
  if (leaves) plan.facts.emplace_back("ServiceCIDR", "kubernetes is no longer being deleted");
  const bool same = cidr && codec::Texts(codec::ArrayAt(*cidr, "spec", "cidrs")) == texts;
  plan.cidrs = plan.cidrs || leaves || !same;
  if (!plan.cidrs) return;
  const auto layout = alloc::LayoutOf(cidrs.front());
  const auto service = FindStored(parts, *rows.services, "default/kubernetes");
  if (!layout || !layout->span() || !service) return;
  const std::string address = ip::Addr(cidrs.front().family(), layout->span()->first).ToString();
  const std::string_view has = codec::StringAt(*service, "spec", "clusterIP");
  if (has == address) return;
  plan.facts.emplace_back("default/kubernetes",
                          fmt::format("{} becomes {}; a server creates it again", has, address));
}

ResetPlan MakePlan(const OfflineParts& parts, const ResetWanted& wanted) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.kinds);
  ResetPlan plan;
  if (!wanted.cidrs.empty()) PlanCidrs(parts, rows, wanted.cidrs, plan);
  if (wanted.ports) {
    const auto stored = FindStored(parts, *rows.node_port_ranges, rules::kNodePortRangeName);
    const std::string text = RangeChangeText(stored, wanted.ports->ToString());
    plan.facts.emplace_back(rules::kNodePortRangeName, text);
    plan.ports = !text.ends_with(" stays");
  }
  return plan;
}

Result<void> ResetCidrs(OfflineParts& parts, const std::vector<ip::Cidr>& cidrs, bool dry_run) {
  const controllers::TakeoverParts takeover{parts.registry, parts.follower,
                                            parts.allocator.Ranges()};
  return AwaitReset<void>(parts, [&](controllers::TakenOver done) {
    if (dry_run) return controllers::CheckTakeover(takeover, cidrs, std::move(done));
    controllers::TakeOver(takeover, cidrs, std::move(done));
  });
}

Result<void> ResetPorts(OfflineParts& parts, const ip::PortRange& ports, bool dry_run) {
  const registry::Row* row = parts.kinds.FindRow(api::kNodePortRangeKind);
  const auto written = AwaitReset<registry::Outcome>(parts, [&](registry::Done done) {
    parts.registry.Update(
        {.served = {.row = row, .view = row->views.data()},
         .name = std::string(rules::kNodePortRangeName)},
        {.way = registry::Way::kPatch},
        [text = ports.ToString()](const Value* current) -> Result<registry::Next> {
          registry::Next next{.object = *current};
          codec::EraseAt(next.object, {"spec", "disabled"});
          if (codec::StringAt(*current, "spec", "range") == text) return next;
          codec::EraseAt(next.object, {"spec", "excluded"});
          codec::EraseAt(next.object, {"spec", "staticBand"});
          codec::SetAt(next.object, {"spec", "range"}, text);
          return next;
        },
        {.dry_run = dry_run, .manager = registry::kOwnManager}, std::move(done));
  });
  if (!written) return tl::unexpected(written.error());
  return {};
}

Result<void> ResetAll(OfflineParts& parts, const ResetWanted& wanted, const ResetPlan& plan,
                      bool dry_run) {
  if (plan.ports) {
    if (auto done = ResetPorts(parts, *wanted.ports, dry_run); !done) return done;
  }
  if (!plan.cidrs) return {};
  return ResetCidrs(parts, wanted.cidrs, dry_run);
}

Result<OpenStore> OpenForReset(const ResetRangesArguments& arguments, Tools& tools, bool& shared) {
  if (!arguments.data_dir.empty()) {
    return OpenToChange({.directory = arguments.data_dir}, {}, tools);
  }
  const auto address = ParseAddress(arguments.store);
  if (!address) {
    return base::Fail(address.error().reason, fmt::format("--store {}", address.error().message));
  }
  shared = !address->IsEmbedded();
  return OpenToChange(*address, arguments.etcd, tools);
}

/// Prints what changes, checks that nothing is in the way, and changes it if that is wanted.
int RunReset(OfflineParts& parts, const ResetWanted& wanted, bool yes) {
  const ResetPlan plan = MakePlan(parts, wanted);
  if (!plan.cidrs && !plan.ports) {
    return PrintOut("The first ranges are already those of the flags\n") ? kFine : kFailed;
  }
  PrintOut(
      fmt::format("{}\n\n{}\n", yes ? "Changes:" : "What would change:", FactsText(plan.facts)));
  const auto refused = [](const base::Error& error) {
    return ReportError(kResetRanges,
                       {.reason = Reason::kConflict,
                        .message = fmt::format("nothing was changed: {}; delete or change what "
                                               "is in the way, and run the command again",
                                               base::ToVisible(error.message))});
  };
  if (auto free = ResetAll(parts, wanted, plan, /*dry_run=*/true); !free) {
    return refused(free.error());
  }
  if (!yes) {
    return PrintOut("Nothing is in the way. To change it, run the same command with --yes\n")
               ? kFine
               : kFailed;
  }
  if (auto done = ResetAll(parts, wanted, plan, /*dry_run=*/false); !done) {
    return ReportError(kResetRanges, done.error());
  }
  return PrintOut("The first ranges are now those of the flags\n") ? kFine : kFailed;
}

}  // namespace

int RunResetRanges(const ResetRangesArguments& arguments) {
  const auto wanted = ParseReset(arguments);
  if (!wanted) return ReportError(kResetRanges, wanted.error());
  Tools tools;
  bool shared = false;
  auto store = OpenForReset(arguments, tools, shared);
  if (!store) return ReportError(kResetRanges, store.error());
  OfflineParts parts(std::move(store->engine), shared, tools);
  if (!parts.follower.WaitReady(kLoadLimit)) {
    return ReportError(kResetRanges,
                       {.reason = Reason::kServiceUnavailable,
                        .message = fmt::format("cannot read the state from the store: {}",
                                               parts.follower.GetStats().trouble)});
  }
  return RunReset(parts, *wanted, arguments.yes);
}

}  // namespace berth::cli
