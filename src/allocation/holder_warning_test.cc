// Refusals name the Service that has the value, beside an error in Kubernetes' words.
#include "allocation/holder_warning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTenAsNumber = "174063626";  // 10.96.0.10
constexpr const char* kForDb = "'reservedFor':{'namespace':'shop','name':'db'}";

class HolderWarningTest : public allocation::testing::RegistryTest {
 protected:
  base::Result<registry::Outcome> Make(const std::string& name, const std::string& spec,
                                       const registry::CommonOptions& options = {}) {
    return Create(Service(""), "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}",
                  options);
  }
  static std::string With(const std::string& ip) {
    return "'clusterIP':'" + ip + "','ports':[{'port':80}]";
  }
  static std::string OnPort(int port) {
    return "'type':'NodePort','ports':[{'port':80,'nodePort':" + std::to_string(port) + "}]";
  }
  void Reserve(const std::string& kind, const std::string& name, const std::string& spec) {
    Must(Create(At("allocation.berth.io/" + kind, "", ""),
                "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}"));
  }
  void Later() { store_.clock.Advance(std::chrono::hours(1)); }
};

std::vector<std::string> WarningsOf(const base::Result<registry::Outcome>& outcome) {
  EXPECT_FALSE(outcome.has_value());
  return outcome ? std::vector<std::string>() : outcome.error().hints;
}

TEST_F(HolderWarningTest, NamesTheServiceOfAnAddress) {
  Must(Make("web", With("10.96.0.10")));
  Later();
  const auto refused = Make("other", With("10.96.0.10"));
  EXPECT_THAT(WarningsOf(refused), ElementsAre("10.96.0.10 is held by Service shop/web since "
                                               "2026-11-15T04:35:00Z"));
  EXPECT_EQ(refused.error().message,
            "Service \"other\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: "
            "failed to allocate IP 10.96.0.10: provided IP is already allocated");
  EXPECT_EQ(WarningsOf(Make("other", With("10.96.0.10"), {.dry_run = true})), refused.error().hints)
      << "a dry-run says the same";
}

TEST_F(HolderWarningTest, NamesTheServiceOfAPort) {
  Must(Make("web", OnPort(30009)));
  EXPECT_THAT(
      WarningsOf(Make("other", OnPort(30009))),
      ElementsAre("node port 30009 is held by Service shop/web since 2026-11-15T04:35:00Z"));
}

TEST_F(HolderWarningTest, SaysWhatAHealthCheckPortIsFor) {
  Must(Make("lb",
            "'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':30019,"
            "'ports':[{'port':80}]"));
  EXPECT_THAT(WarningsOf(Make("other", OnPort(30019))),
              ElementsAre("node port 30019 is held by Service shop/lb for its health check since "
                          "2026-11-15T04:35:00Z"));
}

TEST_F(HolderWarningTest, SaysForWhichServiceAValueIsReserved) {
  Reserve("ipaddresses", kTenAsNumber, kForDb);
  Reserve("nodeports", "30009", std::string(kForDb) + ",'holdSeconds':60");
  Reserve("nodeports", "30010", "");
  EXPECT_THAT(WarningsOf(Make("web", With("10.96.0.10"))),
              ElementsAre("10.96.0.10 is reserved for Service shop/db since 2026-11-15T04:35:00Z"));
  EXPECT_THAT(WarningsOf(Make("web", OnPort(30009))),
              ElementsAre("node port 30009 is reserved for Service shop/db since "
                          "2026-11-15T04:35:00Z until 2026-11-15T04:36:00Z"));
  EXPECT_THAT(WarningsOf(Make("web", OnPort(30010))),
              ElementsAre("node port 30010 is reserved since 2026-11-15T04:35:00Z"));
}

TEST_F(HolderWarningTest, OfAReservationThatItsServiceHasTaken) {
  Reserve("ipaddresses", kTenAsNumber, kForDb);
  Later();
  Must(Make("db", With("10.96.0.10")));
  EXPECT_THAT(WarningsOf(Make("web", With("10.96.0.10"))),
              ElementsAre("10.96.0.10 is held by Service shop/db since 2026-11-15T05:35:00Z"));
}

TEST_F(HolderWarningTest, OfAReservationThatCannotBeMade) {
  Must(Make("web", With("10.96.0.10")));
  const auto refused = Create(At("allocation.berth.io/ipaddresses", "", ""),
                              "{'metadata':{'name':'" + std::string(kTenAsNumber) + "'}}");
  EXPECT_THAT(WarningsOf(refused),
              ElementsAre("10.96.0.10 is held by Service shop/web since 2026-11-15T04:35:00Z"));
  EXPECT_THAT(refused.error().message, HasSubstr("already exists"));
  EXPECT_THAT(WarningsOf(Create(At("networking.k8s.io/ipaddresses", "", ""),
                                "{'metadata':{'name':'10.96.0.10'},'spec':{'parentRef':{"
                                "'resource':'routers','name':'r1'}}}")),
              IsEmpty())
      << "Kubernetes' own kind answers as Kubernetes does";
}

TEST_F(HolderWarningTest, IsAboutTakenValuesOnly) {
  EXPECT_THAT(WarningsOf(Make("web", With("10.200.0.1"))), IsEmpty()) << "in no range";
  EXPECT_THAT(WarningsOf(Make("web", OnPort(80))), IsEmpty());
}

}  // namespace
}  // namespace berth::allocation
