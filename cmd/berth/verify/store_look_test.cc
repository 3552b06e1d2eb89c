#include "berth/verify/store_look.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/blocking.h"
#include "store/keys.h"
#include "store/memory_engine.h"
#include "store/snapshot_file.h"

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoreLookTest : public ::testing::Test {
 protected:
  StoreLookTest() {
    Put("/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io",
        R"({"apiVersion":"allocation.berth.io/v1alpha1","kind":"IPRange",)"
        R"("metadata":{"name":"allocator.ipv4.k8s.io"},"spec":{"range":"10.96.0.0/16"}})");
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_EQ(store::CommitNow(engine_, {.puts = {{.key = key, .value = value}}}).outcome,
              store::Outcome::kCommitted);
  }
  void PutService(const std::string& name, const std::string& address) {
    Put("/registry/services/specs/shop/" + name,
        fmt::format(R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}",)"
                    R"("namespace":"shop","uid":"{}"}},"spec":{{"type":"ClusterIP",)"
                    R"("clusterIP":"{}","clusterIPs":["{}"],"ports":[{{"port":80}}]}}}})",
                    name, name, address, address));
  }
  void PutRecord(const std::string& address, const std::string& service) {
    Put("/registry/ipaddresses/" + address,
        fmt::format(R"({{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":)"
                    R"({{"name":"{}","labels":{{"ipaddress.kubernetes.io/ip-family":"IPv4",)"
                    R"("ipaddress.kubernetes.io/managed-by":)"
                    R"("ipallocator.k8s.io"}}}},"spec":{{"parentRef":{{"group":"","resource":)"
                    R"("services","namespace":"shop","name":"{}"}}}}}})",
                    address, service));
  }

  std::vector<std::string> KindsFound() {
    const auto look = LookAtStore(engine_, {});
    if (!look) return {look.error().message};
    std::vector<std::string> kinds;
    for (const audit::Finding& finding : look->report.findings) {
      kinds.emplace_back(audit::NameOf(finding.kind));
    }
    return kinds;
  }

  const base::SystemClock clock_;
  const std::unique_ptr<store::MemoryEngine> memory_ = store::MemoryEngine::Make({}, clock_);
  store::MemoryEngine& engine_ = *memory_;
};

TEST_F(StoreLookTest, CountsWhatItHasSeen) {
  PutService("a", "10.96.0.10");
  PutRecord("10.96.0.10", "a");
  const auto look = LookAtStore(engine_, {});
  ASSERT_TRUE(look) << look.error().message;
  EXPECT_TRUE(look->report.IsClean());
  EXPECT_EQ(look->report.checked.services, 1U);
  EXPECT_EQ(look->report.checked.records, 1U);
  EXPECT_EQ(look->report.checked.ranges, 1U);
  EXPECT_EQ(look->form, "records");
  EXPECT_EQ(look->report.revision, store::CurrentNow(engine_)->value);
  EXPECT_EQ(look->newest_write, look->report.revision) << "the record was written last";
}

TEST_F(StoreLookTest, FindsWhatIsWrong) {
  PutService("a", "10.96.0.10");
  PutService("b", "10.96.0.11");
  PutService("c", "10.96.0.11");
  PutRecord("10.96.0.12", "a");
  EXPECT_THAT(KindsFound(), ElementsAre("TwoOwners", "NoRecord", "Orphan"));
}

TEST_F(StoreLookTest, AnyKindThatCannotBeDecodedIsFound) {
  Put("/registry/leases/default/a", "garbage");
  Put("/registry/berth.io/of-no-kind", "garbage");
  EXPECT_THAT(KindsFound(), ElementsAre("Undecodable"));
}

TEST_F(StoreLookTest, AnUnfinishedCopyIsNotLookedAt) {
  Put(std::string(store::kCopyNoteKey), "migrating");
  EXPECT_THAT(KindsFound(), ElementsAre(HasSubstr("unfinished copy (migrating)")));
}

TEST_F(StoreLookTest, ASnapshotSaysTheSame) {
  PutService("a", "10.96.0.10");
  PutRecord("10.96.0.11", "a");
  const std::string file = ::testing::TempDir() + "/store_look_test.snap";
  std::filesystem::remove(file);
  ASSERT_TRUE(store::SaveSnapshotFile(engine_, file, {}, clock_));
  const auto saved = LookAtSnapshot(file, {});
  std::filesystem::remove(file);
  const auto look = LookAtStore(engine_, {});
  ASSERT_TRUE(saved && look);
  EXPECT_EQ(saved->report.counts, look->report.counts);
  EXPECT_EQ(saved->report.findings.size(), 2U);
  EXPECT_EQ(saved->report.revision, look->report.revision);
  EXPECT_EQ(saved->newest_write, look->newest_write);
}

}  // namespace
}  // namespace berth::cli
