// Measures one pass of the auditor over a snapshot in memory: a million Services with the records
// of their addresses, and as many node ports as there are. Prints the time of one core, and the
// memory that the pass takes at most.
//
//   audit_bench [SERVICES]
//
// Prints one line for bench/audit_report.py: services, values, findings, seconds, bytes.
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "allocation/audit/snapshot_pass.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "codec/decode.h"
#include "codec/storage.h"
#include "ip/addr.h"
#include "ip/cidr.h"
#include "registry/kind_rows.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth {
namespace {

constexpr uint64_t kPorts = 60'000;

/// Builds the snapshot.
class Filler {
 public:
  Filler() : builder_(state::Snapshot()) {
    Put(allocation::RecordRowsOf(kinds_).service_cidrs->prefix + "kubernetes",
        codec::EncodeStored(
            allocation::ServiceCidrOf(std::vector{ip::ParseCidr("10.0.0.0/8").value()}),
            *rows_.service_cidrs->kind));
    Put(rows_.node_port_ranges->prefix + "allocator.nodeport.k8s.io",
        codec::EncodeStored(allocation::NodePortRangeOf(ip::ParsePortRange("1-65535").value()),
                            *rows_.node_port_ranges->kind));
  }

  void AddService(uint64_t number) {
    const bool port = number < kPorts;
    const std::string name = fmt::format("cart-{:06}", number);
    const std::string uid = fmt::format("c0ffee00-0000-4000-8000-{:012}", number);
    const ip::Addr address(ip::Family::kV4, 0x0A00'0001 + number);
    const std::string text = fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"shop","uid":"{1}",
        "creationTimestamp":"2026-11-15T17:17:39Z","labels":{{"app":"{0}","tier":"front"}}}},
        "spec":{{"ports":[{{"name":"http","protocol":"TCP","port":80,"targetPort":8080{2}}}],
        "selector":{{"app":"{0}"}},"clusterIP":"{3}","clusterIPs":["{3}"],"type":"{4}",
        "sessionAffinity":"None","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",
        "internalTrafficPolicy":"Cluster"}}}})",
        name, uid, port ? fmt::format(R"(,"nodePort":{})", number + 1) : "", address.ToString(),
        port ? "NodePort" : "ClusterIP");
    const registry::Row& services = *kinds_.FindRow(api::kServiceKind);
    auto decoded = codec::DecodeJson(text, *services.kind->message);
    if (!decoded) std::abort();
    PutWire(services.prefix + "shop/" + name, registry::ToWireText(services, decoded->object));
    const allocation::Owner owner{.name_space = "shop", .name = name, .uid = uid};
    PutRecord(owner, {.value = {.pool = alloc::PoolId::kIpv4, .value = address.bits()}});
    if (port) {
      PutRecord(owner, {.value = {.pool = alloc::PoolId::kPorts, .value = number + 1},
                        .ports = {{.name = "http", .port = 80, .protocol = "TCP"}}});
    }
  }

  state::SnapshotPtr Finish() { return builder_.Publish(revision_); }
  const registry::Kinds& kinds() const { return kinds_; }

 private:
  void PutRecord(const allocation::Owner& owner, const allocation::RecordFacts& facts) {
    commit::ExtraPut put = allocation::NewRecord(
        rows_, owner, facts, fmt::format("c0ffee00-0000-4000-9000-{:012}", revision_),
        base::WallTime{});
    PutWire(put.key, put.wire);
  }
  void Put(const std::string& key, const std::string& stored) {
    PutWire(key, resources_.At(resources_.Find(key)->resource).decode(stored).value());
  }
  void PutWire(const std::string& key, const state::WireText& wire) {
    builder_.Put(state::Object::Make(*resources_.Find(key), ++revision_, wire));
  }

  const registry::Kinds kinds_;
  const state::Resources resources_ = kinds_.MakeResources();
  const allocation::RecordRows rows_ = allocation::RecordRowsOf(kinds_);
  state::SnapshotBuilder builder_;
  int64_t revision_ = 0;
};

size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double ThreadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void Run(uint64_t services) {
  Filler filler;
  for (uint64_t i = 0; i < services; ++i) filler.AddService(i);
  const state::SnapshotPtr snapshot = filler.Finish();
  malloc_trim(0);
  const size_t before = AllocatedBytes();
  size_t most = before;
  uint64_t pauses = 0;
  const double begin = ThreadSeconds();
  const audit::Report report =
      allocation::AuditSnapshot(filler.kinds(), *snapshot, {}, [&most, &pauses] {
        if (++pauses % 16 == 0) most = std::max(most, AllocatedBytes());
      });
  const double seconds = ThreadSeconds() - begin;
  fmt::print("services={} values={} findings={} seconds={:.2f} bytes={}\n", report.checked.services,
             report.checked.values, report.findings.size(), seconds, most - before);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  berth::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000);
  return 0;
}
