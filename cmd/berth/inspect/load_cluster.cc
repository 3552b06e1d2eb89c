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
    progress.emplace("reading", clock);
    reading.progress = [&progress](uint64_t objects) {
      progress->Show("reading", objects, std::nullopt, 0);
    };
  }
  return ReadClusterApi(access, reading, reader);
}

Result<void> ReadRunning(const SourceArguments& source, const base::Clock& clock,
                         inspect::ClusterReader& reader) {
  const auto access = kube::FindAccess(AccessOptionsOf(source), kube::RealSurroundings());
  if (!access) return tl::unexpected(access.error());
  reader.view().name_space = access->name_space;
  return ReadServer(*access, {.find_port_range = source.node_port_range.empty()}, clock, reader);
}

Result<void> ReadSource(const SourceArguments& source, const base::Clock& clock,
                        inspect::ClusterReader& reader) {
  if (!source.files.empty()) return ReadClusterFiles(source.files, reader);
  if (!source.data_dir.empty()) return ReadClusterDirectory(source.data_dir, reader);
  if (!source.snapshot.empty()) return ReadClusterSnapshot(source.snapshot, reader);
  return ReadRunning(source, clock, reader);
}

Result<RunningCluster> ReadToFollow(const SourceArguments& source, const base::Clock& clock,
                                    ApiReading reading) {
  if (!source.files.empty() || !source.data_dir.empty() || !source.snapshot.empty()) {
    return base::Fail(base::Reason::kInvalid,
                      "a file or a store at rest does not change; follow a running cluster");
  }
  auto access = kube::FindAccess(AccessOptionsOf(source), kube::RealSurroundings());
  if (!access) return tl::unexpected(access.error());
  RunningCluster running{.access = *std::move(access)};
  inspect::ClusterReader reader({.read_at = clock.Now()});
  reading.find_port_range = source.node_port_range.empty();
  reading.readable = &running.readable;
  if (auto read = ReadServer(running.access, std::move(reading), clock, reader); !read) {
    return tl::unexpected(read.error());
  }
  if (auto added = AddFlagRanges(source, reader); !added) return tl::unexpected(added.error());
  running.view = std::move(reader).Finish();
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

Result<inspect::Cluster> LoadCluster(const SourceArguments& source, const base::Clock& clock) {
  const int at_rest = static_cast<int>(!source.files.empty()) +
                      static_cast<int>(!source.data_dir.empty()) +
                      static_cast<int>(!source.snapshot.empty());
  if (at_rest > 1) {
    return base::Fail(base::Reason::kInvalid, "give only one of -f, --data-dir and --snapshot");
  }
  inspect::ClusterReader reader({.read_at = clock.Now()});
  if (auto read = ReadSource(source, clock, reader); !read) return tl::unexpected(read.error());
  if (auto added = AddFlagRanges(source, reader); !added) return tl::unexpected(added.error());
  return std::move(reader).Finish();
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
  return ReadToFollow(source, clock, {});
}

Result<RunningCluster> LoadOutline(const SourceArguments& source, const base::Clock& clock,
                                   std::shared_ptr<const http::StopSignal> stop) {
  return ReadToFollow(source, clock, {.outline_only = true, .stop = std::move(stop)});
}

}  // namespace berth::cli
