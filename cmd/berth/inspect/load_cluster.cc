#include "berth/inspect/load_cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/go_text.h"
#include "berth/inspect/api_source.h"
#include "berth/inspect/file_source.h"
#include "berth/inspect/store_source.h"
#include "berth/store/progress.h"
#include "inspect/cluster_reader.h"
#include "kube/surroundings.h"

namespace berth::cli {

using base::Result;

namespace {

Result<void> AddFlagRange(std::string_view flag, const std::string& text,
                          inspect::ClusterReader& reader) {
  auto added = reader.AddGivenRange(text, flag, true);
  if (!added) {
    added.error().message =
        fmt::format("{} {}: {}", flag, base::GoQuoted(text), added.error().message);
  }
  return added;
}

}  // namespace

Result<void> AddFlagRanges(const SourceArguments& source, inspect::ClusterReader& reader) {
  if (!source.node_port_range.empty()) {
    std::erase_if(reader.view().ranges, [](const inspect::Range& range) {
      return range.facts.range.kind == alloc::RangeKind::kNodePortRange;
    });
    if (auto added = AddFlagRange("--node-port-range", source.node_port_range, reader); !added) {
      return added;
    }
  }
  for (const std::string& cidr : source.service_cidrs) {
    if (auto added = AddFlagRange("--service-cidr", cidr, reader); !added) return added;
  }
  return {};
}

namespace {

/// Reads from the API server. Shows the progress on a terminal.
Result<void> ReadServer(const kube::Access& access, ApiReading reading, const base::Clock& clock,
                        inspect::ClusterReader& reader) {
  std::optional<Progress> progress;
  if (isatty(STDERR_FILENO) == 1) {
    progress.emplace("", clock, "objects");
    reading.progress = [&progress](uint64_t objects) {
      progress->Show("reading", objects, std::nullopt, 0);
    };
  }
  return ReadClusterApi(access, reading, reader);
}

bool IsAtRest(const SourceArguments& source) {
  return !source.files.empty() || !source.data_dir.empty() || !source.snapshot.empty();
}

Result<void> ReadAtRest(const SourceArguments& source, inspect::ClusterReader& reader) {
  if (!source.files.empty()) return ReadClusterFiles(source.files, reader);
  if (!source.data_dir.empty()) return ReadClusterDirectory(source.data_dir, reader);
  return ReadClusterSnapshot(source.snapshot, reader);
}

/// Adds what the flags give, and ends the reading.
Result<inspect::Cluster> Finished(const SourceArguments& source, inspect::ClusterReader reader) {
  if (auto added = AddFlagRanges(source, reader); !added) return tl::unexpected(added.error());
  return std::move(reader).Finish();
}

/// Returns the first flag that is given and only says how to reach a cluster, or "".
std::string_view ClusterFlag(const SourceArguments& source) {
  if (!source.kubeconfig.empty()) return "--kubeconfig";
  if (!source.context.empty()) return "--context";
  if (!source.server.empty()) return "--server";
  if (!source.token.empty()) return "--token";
  if (!source.as.empty()) return "--as";
  if (!source.as_groups.empty()) return "--as-group";
  if (!source.request_timeout.empty()) return "--request-timeout";
  if (source.insecure_skip_tls_verify) return "--insecure-skip-tls-verify";
  if (!source.certificate_authority.empty()) return "--certificate-authority";
  return "";
}

Result<RunningCluster> ReadToFollow(kube::Access access, const SourceArguments& source,
                                    const base::Clock& clock, ApiReading reading) {
  RunningCluster running{.access = std::move(access)};
  inspect::ClusterReader reader({.read_at = clock.Now()});
  reading.find_port_range = source.node_port_range.empty();
  reading.readable = &running.readable;
  if (auto read = ReadServer(running.access, std::move(reading), clock, reader); !read) {
    return tl::unexpected(read.error());
  }
  auto view = Finished(source, std::move(reader));
  if (!view) return tl::unexpected(view.error());
  running.view = *std::move(view);
  return running;
}

}  // namespace

kube::AccessOptions AccessOptionsOf(const SourceArguments& source) {
  return {.kubeconfig = source.kubeconfig,
          .context = source.context,
          .server = source.server,
          .token = source.token,
          .as = source.as,
          .as_groups = source.as_groups,
          .request_timeout = source.request_timeout,
          .insecure_skip_tls_verify = source.insecure_skip_tls_verify,
          .certificate_authority = source.certificate_authority};
}

Result<void> CheckSource(const SourceArguments& source) {
  const int at_rest = static_cast<int>(!source.files.empty()) +
                      static_cast<int>(!source.data_dir.empty()) +
                      static_cast<int>(!source.snapshot.empty());
  if (at_rest > 1) {
    return base::Fail(base::Reason::kInvalid, "give only one of -f, --data-dir and --snapshot");
  }
  const std::string_view flag = ClusterFlag(source);
  if (at_rest == 0 || flag.empty()) return {};
  const std::string_view other = !source.files.empty()      ? "-f reads files"
                                 : !source.data_dir.empty() ? "--data-dir reads a store at rest"
                                                            : "--snapshot reads a file";
  return base::Fail(
      base::Reason::kInvalid,
      fmt::format("{}, and {} belongs to a running cluster; leave one of them out", other, flag));
}

Result<inspect::Cluster> LoadCluster(const SourceArguments& source, const base::Clock& clock,
                                     bool some_services) {
  if (auto checked = CheckSource(source); !checked) return tl::unexpected(checked.error());
  if (!IsAtRest(source)) {
    const auto access = kube::FindAccess(AccessOptionsOf(source), kube::RealSurroundings());
    if (!access) return tl::unexpected(access.error());
    return LoadServer(*access, source, clock, some_services);
  }
  inspect::ClusterReader reader({.read_at = clock.Now()});
  if (auto read = ReadAtRest(source, reader); !read) return tl::unexpected(read.error());
  return Finished(source, std::move(reader));
}

Result<inspect::Cluster> LoadServer(const kube::Access& access, const SourceArguments& source,
                                    const base::Clock& clock, bool some_services) {
  inspect::ClusterReader reader({.read_at = clock.Now()});
  const ApiReading reading{.find_port_range = source.node_port_range.empty(),
                           .some_services = some_services};
  reader.view().name_space = access.name_space;
  if (auto read = ReadServer(access, reading, clock, reader); !read) {
    return tl::unexpected(read.error());
  }
  return Finished(source, std::move(reader));
}

std::vector<inspect::Range> GivenRanges(const inspect::Cluster& cluster) {
  std::vector<inspect::Range> given;
  for (const inspect::Range& range : cluster.ranges) {
    // What was assumed from the values in use is assumed anew for each view.
    if (range.given && range.exact) given.push_back(range);
  }
  return given;
}

Result<RunningCluster> LoadRunning(const SourceArguments& source, const base::Clock& clock) {
  if (IsAtRest(source)) {
    return base::Fail(base::Reason::kInvalid,
                      "a file or a store at rest does not change; follow a running cluster");
  }
  auto access = kube::FindAccess(AccessOptionsOf(source), kube::RealSurroundings());
  if (!access) return tl::unexpected(access.error());
  return ReadToFollow(*std::move(access), source, clock, {});
}

Result<RunningCluster> LoadOutline(const kube::Access& access, const SourceArguments& source,
                                   const base::Clock& clock,
                                   std::shared_ptr<const http::StopSignal> stop) {
  return ReadToFollow(access, source, clock, {.outline_only = true, .stop = std::move(stop)});
}

}  // namespace berth::cli
