// Measures the memory of an observer: lists SERVICES with an address each, and the record of each
// address, as a follower reports them one by one, and counts them twice.
//
//   observer_bench [SERVICES]
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "base/temp_dir.h"
#include "codec/json.h"
#include "history/history.h"
#include "ip/addr.h"
#include "observe/observer.h"

namespace berth {
namespace {

using observe::WatchedKind;

std::string AddressOf(uint64_t i) {
  return ip::Addr(ip::Family::kV4, 0x0a600000 + 256 + i).ToString();
}

codec::Value ServiceOf(uint64_t i, base::Random& random) {
  return codec::ParseJson(
             fmt::format(R"({{"apiVersion":"v1","kind":"Service","metadata":{{"namespace":)"
                         R"("team-{:02}","name":"service-{:06}","uid":"{}","resourceVersion":"{}",)"
                         R"("creationTimestamp":"2026-01-02T03:04:05Z"}},"spec":{{"type":)"
                         R"("ClusterIP","clusterIP":"{}","clusterIPs":["{}"],"ports":)"
                         R"([{{"port":80,"protocol":"TCP"}}]}}}})",
                         i % 50, i, base::NewUuid(random), i, AddressOf(i), AddressOf(i)))
      .value();
}

codec::Value RecordOf(uint64_t i) {
  return codec::ParseJson(
             fmt::format(R"({{"metadata":{{"name":"{}","labels":{{)"
                         R"("ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}}}},)"
                         R"("spec":{{"parentRef":{{"resource":"services","namespace":"team-{:02}",)"
                         R"("name":"service-{:06}"}}}}}})",
                         AddressOf(i), i % 50, i))
      .value();
}

double PeakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int Run(uint64_t services) {
  const base::TempDir dir;
  const base::SystemClock clock;
  base::Logger log({}, clock);
  base::SeededRandom random(1);
  const auto history = history::History::Open({.directory = dir.Path()}, clock, log).value();
  observe::Observer observer({.kinds = {WatchedKind::kServices, WatchedKind::kAddresses},
                              .keeps = audit::Keeps::kAddressesOnly},
                             *history, clock);
  const double before = PeakMiB();
  observer.BeginList(WatchedKind::kServices);
  for (uint64_t i = 0; i < services; ++i) {
    observer.Put(WatchedKind::kServices, ServiceOf(i, random));
  }
  observer.EndList(WatchedKind::kServices, 1);
  const double with_services = PeakMiB();
  observer.BeginList(WatchedKind::kAddresses);
  for (uint64_t i = 0; i < services; ++i) observer.Put(WatchedKind::kAddresses, RecordOf(i));
  observer.EndList(WatchedKind::kAddresses, 1);
  const double with_records = PeakMiB();
  const auto start = std::chrono::steady_clock::now();
  observer.Refresh();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  observer.Refresh();
  fmt::print("at start {:.1f} MiB, with Services {:.1f}, with records {:.1f}, peak {:.1f}\n",
             before, with_services, with_records, PeakMiB());
  fmt::print("counting takes {:.2f} s\n", took.count());
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000);
}
