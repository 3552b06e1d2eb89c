#include "allocation/range_reset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"
#include "codec/read.h"
#include "rules/range_spec.h"

namespace berth::allocation {
namespace {

using codec::StringAt;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kFirst = "allocator.ipv4.k8s.io";

/// The default ServiceCIDR, which is deleted, and the first ranges, which are reset.
class RangeResetTest : public testing::RegistryTest {
 protected:
  RangeResetTest() {
    Must(Create(Range(),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
    // An update gives the ServiceCIDR its finalizer.
    Must(Update(Cidr("kubernetes"),
                "{'metadata':{'name':'kubernetes','labels':{'a':'b'}},"
                "'spec':{'cidrs':['10.96.0.0/16']}}"));
  }

  registry::Target Range(std::string name = "") const {
    return At("allocation.berth.io/ipranges", "", std::move(name));
  }
  registry::Target Cidr(std::string name = "") const {
    return At("networking.k8s.io/servicecidrs", "", std::move(name));
  }
  void MakeCidr(const std::string& name, const std::string& cidr) {
    Must(Create(Cidr(), "{'metadata':{'name':'" + name + "'},'spec':{'cidrs':['" + cidr + "']}}"));
  }
  /// Creates a Service and returns its address, or the error.
  std::string Serve(const std::string& name, const std::string& address = "") {
    const std::string spec = address.empty() ? "" : "'clusterIP':'" + address + "',";
    auto made = Create(Service(""), "{'metadata':{'name':'" + name + "'},'spec':{" + spec +
                                        "'ports':[{'port':80}]}}");
    if (!made) return made.error().message;
    return std::string(StringAt(*Get(Service(name)), "spec", "clusterIP"));
  }
  /// Resets the first ranges. Returns the error, or "done".
  std::string Reset(const std::vector<std::string>& cidrs, bool dry_run = false) {
    RangeReset reset{.dry_run = dry_run};
    for (const std::string& cidr : cidrs) reset.cidrs.push_back(ip::ParseCidr(cidr).value());
    std::optional<base::Result<commit::Written>> answer;
    Ranges().Reset(reset, [&answer](base::Result<commit::Written> written) { answer = written; });
    PumpAll();
    if (!answer) return "no answer";
    return *answer ? "done" : answer->error().message;
  }
  std::string Cidrs() const {
    std::string all;
    for (const std::string& cidr :
         codec::Texts(codec::ArrayAt(*Get(Cidr("kubernetes")), "spec", "cidrs"))) {
      all += (all.empty() ? "" : ",") + cidr;
    }
    return all;
  }
  std::string RangeOf(const std::string& name) const {
    const auto range = Get(Range(name));
    if (!range) return "not found";
    const bool primary = codec::BoolAt(*range, "spec", "primary");
    return std::string(StringAt(*range, "spec", "range")) + (primary ? " primary" : "");
  }
  bool Leaves() const {
    return codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "deletionTimestamp");
  }
};

TEST_F(RangeResetTest, TheFirstRangeMakesWayWhenItsServiceCidrIsDeleted) {
  Must(Delete(Cidr("kubernetes")));
  EXPECT_TRUE(Leaves());
  EXPECT_THAT(Serve("alone"), StartsWith("10.96.")) << "no other range can serve";
  MakeCidr("next", "10.97.0.0/24");
  EXPECT_THAT(Serve("a"), StartsWith("10.97.0."));
  EXPECT_THAT(Serve("b", "10.96.0.9"),
              HasSubstr("is in the range \"allocator.ipv4.k8s.io\" (10.96.0.0/16), which makes way "
                        "for another range"));
  Must(Create(Range(),
              "{'metadata':{'name':'allocator.ipv6.k8s.io'},'spec':{'range':"
              "'fd00::/64','primary':true}}"));
  EXPECT_THAT(Serve("six"), StartsWith("fd00::")) << "no other range of that family can serve";
}

TEST_F(RangeResetTest, ItsFinalizerCanBeRemovedToGoBack) {
  Must(Delete(Cidr("kubernetes")));
  MakeCidr("next", "10.97.0.0/24");
  Must(Update(Cidr("kubernetes"),
              "{'metadata':{'name':'kubernetes'},'spec':{'cidrs':['10.96.0.0/16']}}"));
  EXPECT_FALSE(Get(Cidr("kubernetes")));
  EXPECT_THAT(Serve("a"), StartsWith("10.96."));
}

TEST_F(RangeResetTest, AServiceCidrThatLeavesIsReplacedByANewOne) {
  MakeCidr("next", "10.97.0.0/24");
  Must(Delete(Cidr("kubernetes")));
  const std::string uid(StringAt(*Get(Cidr("kubernetes")), "metadata", "uid"));
  EXPECT_EQ(Reset({"10.97.0.0/24"}), "done");
  EXPECT_EQ(Cidrs(), "10.97.0.0/24");
  EXPECT_EQ(RangeOf(kFirst), "10.97.0.0/24 primary");
  EXPECT_FALSE(Leaves());
  EXPECT_NE(StringAt(*Get(Cidr("kubernetes")), "metadata", "uid"), uid);
  EXPECT_FALSE(codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "labels"));
  EXPECT_EQ(codec::ArrayAt(*Get(Cidr("kubernetes")), "metadata", "finalizers").size(), 1U);
  EXPECT_EQ(StringAt(*Get(Range(kFirst)), "status", "total"), "254");
  EXPECT_THAT(Serve("a"), StartsWith("10.97.0."));
}

TEST_F(RangeResetTest, AServiceInTheWayIsNamedAndNothingChanges) {
  ASSERT_EQ(Serve("a", "10.96.0.9"), "10.96.0.9");
  const int64_t before = Revision();
  for (const bool dry_run : {true, false}) {
    EXPECT_THAT(Reset({"10.97.0.0/24"}, dry_run),
                AllOf(HasSubstr("1 of its addresses would be outside of every range"),
                      HasSubstr("10.96.0.9 (Service shop/a)")));
    EXPECT_EQ(RangeOf(kFirst), "10.96.0.0/16 primary");
    EXPECT_TRUE(!dry_run || Revision() == before);
  }
  EXPECT_THAT(Serve("b"), StartsWith("10.96.")) << "the fences are open again";
  MakeCidr("cover", "10.96.0.0/16");
  EXPECT_EQ(Reset({"10.97.0.0/24"}), "done") << "another range has its address";
}

TEST_F(RangeResetTest, OnlyACheckSparesDefaultKubernetes) {
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}"));
  Must(Create(At("services", "default", ""),
              "{'metadata':{'name':'kubernetes'},'spec':{'clusterIP':'10.96.0.1',"
              "'ports':[{'port':443}]}}"));
  EXPECT_EQ(Reset({"10.97.0.0/24"}, /*dry_run=*/true), "done");
  EXPECT_EQ(Cidrs(), "10.96.0.0/16");
  EXPECT_THAT(Reset({"10.97.0.0/24"}), HasSubstr("10.96.0.1 (Service default/kubernetes)"));
}

TEST_F(RangeResetTest, FamiliesComeAndGo) {
  EXPECT_EQ(Reset({"fd00::/64", "10.96.0.0/16"}), "done");
  EXPECT_EQ(Cidrs(), "fd00::/64,10.96.0.0/16");
  EXPECT_EQ(RangeOf("allocator.ipv6.k8s.io"), "fd00::/64 primary");
  EXPECT_EQ(RangeOf(kFirst), "10.96.0.0/16");
  EXPECT_TRUE(codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "labels")) << "the same object";
  ASSERT_THAT(Serve("six"), StartsWith("fd00::"));
  EXPECT_THAT(Reset({"10.96.0.0/16"}), HasSubstr("(Service shop/six)"));
  Must(Delete(Service("six")));
  EXPECT_EQ(Reset({"10.96.0.0/16"}), "done");
  EXPECT_EQ(Cidrs(), "10.96.0.0/16");
  EXPECT_EQ(RangeOf("allocator.ipv6.k8s.io"), "not found");
  EXPECT_EQ(RangeOf(kFirst), "10.96.0.0/16 primary");
  EXPECT_THAT(Serve("four"), StartsWith("10.96."));
}

TEST_F(RangeResetTest, RulesOfARangeThatStaysAreKept) {
  Must(Update(Range(kFirst),
              "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{"
              "'range':'10.96.0.0/16','primary':true,'disabled':true,"
              "'coolDownSeconds':7,'excluded':['10.96.0.5']}}"));
  EXPECT_EQ(Reset({"10.96.0.0/16"}), "done");
  codec::Value spec = *Get(Range(kFirst))->Find("spec");
  EXPECT_FALSE(codec::HasAt(spec, "disabled"));
  EXPECT_TRUE(codec::HasAt(spec, "excluded"));
  EXPECT_EQ(Reset({"10.97.0.0/16"}), "done");
  spec = *Get(Range(kFirst))->Find("spec");
  EXPECT_FALSE(codec::HasAt(spec, "excluded"));
  EXPECT_EQ(codec::IntAt(spec, "coolDownSeconds"), 7);
}

}  // namespace
}  // namespace berth::allocation
