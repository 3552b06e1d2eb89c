// Lists all Services of a running server as the commands do that look into a cluster.
//
//   list_load KUBECONFIG PAGE json|protobuf plain|gzip
//
// Prints one line of JSON: how long it took, the processor time and the memory of this process.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/random.h"
#include "codec/value.h"
#include "kube/access.h"
#include "kube/api_client.h"
#include "kube/find_access.h"
#include "kube/list.h"
#include "kube/surroundings.h"

int main(int argc, char** argv) {
  using namespace berth;  // NOLINT(google-build-using-namespace)
  if (argc != 5) return 2;
  auto access = kube::FindAccess({.kubeconfig = argv[1]}, kube::RealSurroundings());
  if (!access) {
    fmt::print(stderr, "{}\n", access.error().message);
    return 1;
  }
  access->client.gzip = std::string_view(argv[4]) == "gzip";
  base::SeededRandom random = base::SeededRandom::FromKernel();
  kube::ApiClient client(*access, {.random = random});
  const auto begun = std::chrono::steady_clock::now();
  const auto listed = kube::List(
      client, kube::TargetOf(api::kServiceKind), {.object = [](codec::Value) {}},
      {.page_size = std::atoi(argv[2]), .protobuf = std::string_view(argv[3]) != "json"});
  if (!listed) {
    fmt::print(stderr, "{}\n", listed.error().error.message);
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::ifstream status("/proc/self/status");
  double resident_kib = 0;  // The most so far. That of getrusage includes the parent's.
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) resident_kib = std::strtod(line.c_str() + 6, nullptr);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  fmt::print(
      R"({{"objects":{},"seconds":{:.3f},"processor_seconds":{:.3f},"resident_mib":{:.1f},"protobuf":{}}})"
      "\n",
      listed->objects, took.count(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
      resident_kib / 1024, listed->protobuf);
}
