#include "obs/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace berth::obs {
namespace {

/// The fields of /proc/self/stat that are used here; see proc(5).
struct ProcessStat {
  double ticks = 0;  // User and system time.
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};

double TicksPerSecond() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

ProcessStat ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The second field is the program's name in parentheses, which may contain any character.
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream fields(line.substr(end + 1));
  ProcessStat stat;
  std::string skipped;
  constexpr int kFirst = 3;  // The number of the field after the name.
  for (int field = kFirst; field <= 24 && fields; ++field) {
    double value = 0;
    if (field == kFirst) {
      fields >> skipped;  // The state is a letter.
      continue;
    }
    fields >> value;
    if (field == 14 || field == 15) stat.ticks += value;
    if (field == 22) stat.start_ticks = value;
    if (field == 23) stat.virtual_bytes = value;
    if (field == 24) stat.resident_pages = value;
  }
  return stat;
}

/// Returns the time of the system's start in seconds since 1970.
double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

double OpenFiles() {
  std::error_code error;
  double count = -1;  // Not counting the descriptor that this loop opens.
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    ++count;
  }
  return count;
}

double MaxFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void AddProcessMetrics(Metrics& metrics) {
  metrics.Add({.name = "process_cpu_seconds_total",
               .help = "Total user and system CPU time spent in seconds.",
               .type = MetricType::kCounter},
              [] { return ReadStat().ticks / TicksPerSecond(); });
  metrics.Add({.name = "process_start_time_seconds",
               .help = "Start time of the process since unix epoch in seconds.",
               .type = MetricType::kGauge},
              [start = BootTime() + ReadStat().start_ticks / TicksPerSecond()] { return start; });
  metrics.Add(
      {.name = "process_resident_memory_bytes",
       .help = "Resident memory size in bytes.",
       .type = MetricType::kGauge},
      [] { return ReadStat().resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)); });
  metrics.Add({.name = "process_virtual_memory_bytes",
               .help = "Virtual memory size in bytes.",
               .type = MetricType::kGauge},
              [] { return ReadStat().virtual_bytes; });
  metrics.Add({.name = "process_open_fds",
               .help = "Number of open file descriptors.",
               .type = MetricType::kGauge},
              OpenFiles);
  metrics.Add({.name = "process_max_fds",
               .help = "Maximum number of open file descriptors.",
               .type = MetricType::kGauge},
              MaxFiles);
}

}  // namespace berth::obs
