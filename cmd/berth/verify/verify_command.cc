#include "berth/verify/verify_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/show.h"
#include "berth/paint.h"
#include "berth/program_name.h"
#include "berth/store/address.h"
#include "berth/store/progress.h"
#include "berth/terminal.h"
#include "berth/verify/api_look.h"
#include "berth/verify/store_look.h"
#include "berth/verify/verify_report.h"
#include "berth/verify/verify_watch.h"
#include "berth/verify/view_look.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "kube/find_access.h"
#include "kube/surroundings.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr int kClean = 0;
constexpr int kFindings = 1;
constexpr int kCouldNotLook = 2;

/// A source that can be looked at, once or again.
struct Source {
  std::string name = {};
  bool running = false;            // A server may use it.
  std::string_view unit = "keys";  // What progress counts.
  std::function<Result<Look>(const LookProgress&)> look = {};
};

int CouldNotLook(std::string_view why) {
  fmt::print(stderr, "{}", AsInvoked(fmt::format("berth verify: {}\n", why)));
  return kCouldNotLook;
}

Result<Look> LookAtAddress(const Address& address, const EtcdArguments& etcd,
                           const LookProgress& progress) {
  Tools tools;
  const auto store = OpenToRead(address, etcd, tools);
  if (store) return LookAtStore(*store->engine, progress);
  if (!address.IsEmbedded() || store.error().reason != Reason::kConflict) {
    return tl::unexpected(store.error());
  }
  return base::Fail(Reason::kConflict,
                    fmt::format("{}; or look at the running server: berth verify --kubeconfig "
                                "{}/admin.kubeconfig",
                                store.error().message, address.directory));
}

Result<Look> LookAtFiles(const SourceArguments& source) {
  const base::SystemClock clock;
  const auto cluster = LoadCluster(source, clock);
  if (!cluster) return tl::unexpected(cluster.error());
  Look look = LookAtView(*cluster);
  look.why_not_checked = "the files do not show it";
  return look;
}

/// Returns the first flag that is given and describes the ranges, or "".
std::string_view RangeFlag(const SourceArguments& source) {
  if (!source.node_port_range.empty()) return "--node-port-range";
  return source.service_cidrs.empty() ? "" : "--service-cidr";
}

Result<void> RefuseRangeFlag(const SourceArguments& source) {
  const std::string_view flag = RangeFlag(source);
  if (flag.empty()) return {};
  return base::Fail(Reason::kInvalid,
                    fmt::format("{}: Berth keeps its ranges as objects; leave the flag out", flag));
}

/// Looks at a running server. Every server but Berth is looked at as Kubernetes shows it.
Result<Look> LookAtServer(const kube::Access& access, const SourceArguments& source,
                          const LookProgress& progress) {
  auto look = LookAtApi(access, progress);
  if (!look) return tl::unexpected(std::move(look.error()));
  if (*look) {
    if (auto refused = RefuseRangeFlag(source); !refused) return tl::unexpected(refused.error());
    return **std::move(look);
  }
  const base::SystemClock clock;
  const auto cluster = LoadServer(access, source, clock);
  if (!cluster) return tl::unexpected(cluster.error());
  return LookAtView(*cluster);
}

Result<Source> SourceOf(const VerifyArguments& arguments) {
  const SourceArguments& given = arguments.source;
  if (!given.snapshot.empty()) {
    const std::string& file = given.snapshot;
    return Source{.name = "snapshot:" + file, .look = [file](const LookProgress& progress) {
                    return LookAtSnapshot(file, progress);
                  }};
  }
  if (!given.files.empty()) {
    return Source{.name = fmt::format("{}", fmt::join(given.files, ", ")),
                  .look = [given](const LookProgress&) { return LookAtFiles(given); }};
  }
  if (given.data_dir.empty() && arguments.etcd_servers.empty()) {
    // All looks share the access, so a credential plugin runs once.
    auto access = kube::FindAccess(AccessOptionsOf(given), kube::RealSurroundings());
    if (!access) return tl::unexpected(access.error());
    return Source{.name = access->url,
                  .running = true,
                  .unit = "objects",
                  .look = [access = *access, given](const LookProgress& progress) {
                    return LookAtServer(access, given, progress);
                  }};
  }
  const Address address{.directory = given.data_dir, .endpoints = arguments.etcd_servers};
  return Source{.name = address.Text(),
                .running = !address.IsEmbedded(),
                .look = [address, etcd = arguments.etcd](const LookProgress& progress) {
                  return LookAtAddress(address, etcd, progress);
                }};
}

/// Looks once. Shows the progress on a terminal.
Result<Look> LookOnce(const Source& source) {
  if (isatty(STDERR_FILENO) != 1) return source.look({});
  const base::SystemClock clock;
  Progress progress("verify", clock, source.unit);
  return source.look([&progress](const char* doing, uint64_t keys) {
    progress.Show(doing, keys, std::nullopt, 0);
  });
}

/// Looks at the source, and a second time if that is needed to tell a fault from a figure that a
/// server is about to write.
Result<Look> LookWell(const Source& source) {
  auto look = LookOnce(source);
  if (!look || !NeedsSecondLook(*look)) return look;
  if (!source.running) {
    SettleAtRest(*look);
    return look;
  }
  std::this_thread::sleep_for(kSettleTime);
  auto again = LookOnce(source);
  if (again) SettleRunning(*again, *look);
  return again;
}

Rendered RenderLook(const std::string& source, const Look& look, const std::string& format) {
  Rendered rendered{.code = look.report.IsClean() ? kClean : kFindings};
  if (format == "json") {
    rendered.text = codec::WriteJson(VerifyDocument(source, look), {.indent = 2}) + "\n";
  } else if (format == "yaml") {
    rendered.text = codec::WriteYaml(VerifyDocument(source, look), codec::YamlOrder::kAsGiven);
  } else {
    const Paint paint(DetectStyle(kInspectWidths));
    // Lines of a pipe are left whole, for grep.
    const size_t wrap = isatty(STDOUT_FILENO) == 1 ? paint.prose_width() : 0;
    rendered.text = VerifyText(source, look, paint, {.wrap = wrap, .wide = format == "wide"});
  }
  return rendered;
}

/// Looks again whenever the cluster has changed. Returns the exit code.
Result<int> Watch(const VerifyArguments& arguments) {
  if (!arguments.etcd_servers.empty()) {
    return base::Fail(Reason::kInvalid,
                      "--watch follows a running server, and --etcd-servers reads its store; leave "
                      "one of them out");
  }
  const base::SystemClock clock;
  auto running = LoadRunning(arguments.source, clock);
  if (!running) return tl::unexpected(running.error());
  if (running->view.server == inspect::ServerKind::kBerth) {
    if (auto refused = RefuseRangeFlag(arguments.source); !refused) {
      return tl::unexpected(refused.error());
    }
  }
  const std::string& format = arguments.output.format;
  const std::string name = running->access.url;
  return WatchCluster(*std::move(running), clock, IsTable(format), kCouldNotLook,
                      [&](const Look& look) { return RenderLook(name, look, format); });
}

}  // namespace

int RunVerify(const VerifyArguments& arguments) {
  if (auto checked = CheckFormat("verify", arguments.output.format); !checked) {
    return CouldNotLook(checked.error().message);
  }
  const SourceArguments& given = arguments.source;
  const int named =
      static_cast<int>(!given.kubeconfig.empty()) + static_cast<int>(!given.files.empty()) +
      static_cast<int>(!given.data_dir.empty()) + static_cast<int>(!given.snapshot.empty()) +
      static_cast<int>(!arguments.etcd_servers.empty());
  if (named > 1) {
    return CouldNotLook(
        "give only one of --kubeconfig (a running server), -f (files), --data-dir (a data "
        "directory), --snapshot (a file) and --etcd-servers (an etcd cluster); see berth verify "
        "--help");
  }
  if (auto checked = CheckSource(given); !checked) return CouldNotLook(checked.error().message);
  if (!given.snapshot.empty() || !given.data_dir.empty() || !arguments.etcd_servers.empty()) {
    if (auto refused = RefuseRangeFlag(given); !refused) {
      return CouldNotLook(refused.error().message);
    }
  }
  if (arguments.output.watch) {
    const auto watched = Watch(arguments);
    return watched ? *watched : CouldNotLook(watched.error().message);
  }
  const auto source = SourceOf(arguments);
  if (!source) return CouldNotLook(source.error().message);
  const auto look = LookWell(*source);
  if (!look) return CouldNotLook(look.error().message);
  const Rendered rendered = RenderLook(source->name, *look, arguments.output.format);
  return PrintOut(rendered.text) ? rendered.code : kCouldNotLook;
}

}  // namespace berth::cli
