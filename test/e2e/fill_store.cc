// Fills a data directory with objects as Kubernetes would store them, for the end-to-end tests.
//
//   fill_store DIR N [hold]
//
// It writes N Services, each with its IPAddress, and a few keys of every other sort: Namespaces, an
// IPRange (JSON), Events that expire, a fence. With `hold` it then prints "holding" and keeps the
// directory open until its standard input ends.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"

namespace {

namespace store = berth::store;
using std::string_literals::operator""s;

constexpr int kPutsPerTxn = 100;

std::string Varint(uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  return out += static_cast<char>(number);
}

std::string Field(uint64_t number, std::string_view content) {
  return Varint(number << 3 | 2) + Varint(content.size()) + std::string(content);
}

std::string Field(uint64_t number, uint64_t value) { return Varint(number << 3) + Varint(value); }

std::string Envelope(std::string_view version, std::string_view kind, std::string_view object) {
  return "k8s\0"s + Field(1, Field(1, version) + Field(2, kind)) + Field(2, object) + Field(3, "") +
         Field(4, "");
}

std::string Metadata(std::string_view name, std::string_view space, int number) {
  const std::string uid = fmt::format("0d0b6a5e-1111-4222-8333-{:012x}", number);
  return Field(1, Field(1, name) + Field(2, "") + Field(3, space) + Field(4, "") + Field(5, uid) +
                      Field(6, "") + Field(7, uint64_t{0}) +
                      Field(8, Field(1, uint64_t{1'794'000'000}) + Field(2, uint64_t{0})) +
                      Field(11, Field(1, "app") + Field(2, name)));
}

std::string ServiceValue(int number, std::string_view address) {
  const std::string target = Field(1, uint64_t{0}) + Field(2, uint64_t{8080}) + Field(3, "");
  const std::string port = Field(1, "http") + Field(2, "TCP") + Field(3, uint64_t{80}) +
                           Field(4, target) + Field(5, uint64_t{0});
  const std::string spec = Field(1, port) + Field(2, Field(1, "app") + Field(2, "web")) +
                           Field(3, address) + Field(4, "ClusterIP") + Field(7, "None") +
                           Field(8, "") + Field(10, "") + Field(11, "") + Field(12, uint64_t{0}) +
                           Field(13, uint64_t{0}) + Field(17, "SingleStack") + Field(18, address) +
                           Field(19, "IPv4") + Field(22, "Cluster");
  return Envelope("v1", "Service",
                  Metadata(fmt::format("web-{}", number), "shop", number) + Field(2, spec) +
                      Field(3, Field(1, "")));
}

std::string IpAddressValue(int number, std::string_view address) {
  const std::string parent = Field(1, "") + Field(2, "services") + Field(3, "shop") +
                             Field(4, fmt::format("web-{}", number));
  return Envelope("networking.k8s.io/v1", "IPAddress",
                  Metadata(address, "", number) + Field(2, Field(1, parent)));
}

class Filler {
 public:
  explicit Filler(store::Engine& engine) : engine_(engine) {}

  void Put(std::string key, std::string value, std::chrono::seconds ttl = {}) {
    txn_.puts.push_back({.key = std::move(key), .value = std::move(value), .ttl = ttl});
    if (txn_.puts.size() == kPutsPerTxn) Flush();
  }

  void Flush() {
    if (txn_.puts.empty()) return;
    const auto reply = store::CommitNow(engine_, std::exchange(txn_, {}));
    if (reply.outcome == store::Outcome::kCommitted) return;
    fmt::print(stderr, "fill_store: {}\n", reply.error.message);
    std::exit(1);
  }

 private:
  store::Engine& engine_;
  store::Txn txn_;
};

void Fill(store::Engine& engine, int services) {
  Filler filler(engine);
  for (int i = 0; i < services; ++i) {
    const std::string address = fmt::format("10.{}.{}.{}", 96 + (i >> 16), i >> 8 & 255, i & 255);
    filler.Put(fmt::format("/registry/ipaddresses/{}", address), IpAddressValue(i, address));
    filler.Put(fmt::format("/registry/services/specs/shop/web-{}", i), ServiceValue(i, address));
  }
  for (const std::string name : {"default", "shop"}) {
    filler.Put("/registry/namespaces/" + name,
               Envelope("v1", "Namespace",
                        Metadata(name, "", 0) + Field(2, Field(1, "kubernetes")) +
                            Field(3, Field(1, "Active"))));
  }
  filler.Put("/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io",
             R"({"apiVersion":"allocation.berth.io/v1alpha1","kind":"IPRange","metadata":{)"
             R"("name":"allocator.ipv4.k8s.io"},"spec":{"range":"10.96.0.0/12"}})");
  for (int i = 0; i < 3; ++i) {
    filler.Put(fmt::format("/registry/events/shop/web-{}.1", i),
               Envelope("v1", "Event", Metadata(fmt::format("web-{}.1", i), "shop", i)),
               std::chrono::hours(1));
  }
  filler.Put("/registry/berth.io/fence/ipv4",
             R"({"apiVersion":"allocation.berth.io/v1alpha1","kind":"RangeFence","metadata":{)"
             R"("name":"ipv4"},"spec":{}})");
  filler.Flush();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fill_store DIR N [hold]\n");
    return 2;
  }
  const berth::base::SystemClock clock;
  berth::base::Logger log({.minimum = berth::base::LogLevel::kWarn}, clock);
  const auto engine = store::rocks::RocksEngine::Open({.directory = argv[1]}, log, clock);
  if (!engine) {
    fmt::print(stderr, "fill_store: {}\n", engine.error().message);
    return 1;
  }
  Fill(**engine, std::atoi(argv[2]));
  if (argc > 3 && std::string_view(argv[3]) == "hold") {
    fmt::print("holding\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
    }
  }
  return 0;
}
