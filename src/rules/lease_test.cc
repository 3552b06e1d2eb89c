#include "rules/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

codec::Value WithSpec(const std::string& spec) {
  return Json("{'metadata':{'name':'a.b','namespace':'n','resourceVersion':'1'},'spec':{" + spec +
              "}}");
}

std::vector<std::string> CreateLease(const std::string& spec) {
  return Lines(ValidateLeaseCreate(WithSpec(spec)));
}

TEST(Lease, Spec) {
  EXPECT_THAT(CreateLease(""), IsEmpty());
  EXPECT_THAT(CreateLease("'leaseDurationSeconds':1,'leaseTransitions':0,'holderIdentity':'x'"),
              IsEmpty());
  EXPECT_THAT(CreateLease("'leaseDurationSeconds':0,'leaseTransitions':-1"),
              ElementsAre("spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                          "spec.leaseTransitions: Invalid value: -1: must be greater than or equal "
                          "to 0"));
}

TEST(Lease, Strategy) {
  EXPECT_THAT(CreateLease("'strategy':'OldestEmulationVersion','preferredHolder':'h'"), IsEmpty());
  EXPECT_THAT(CreateLease("'strategy':'a.io/b'"), IsEmpty());
  EXPECT_THAT(
      CreateLease("'strategy':'Newest'"),
      ElementsAre("spec.strategy.strategy: Unsupported value: \"Newest\": supported values: "
                  "\"OldestEmulationVersion\""));
  EXPECT_THAT(CreateLease("'strategy':'a/b/c'"),
              ElementsAre(HasSubstr("spec.strategy.strategy: Invalid value: \"a/b/c\": a valid")));
  EXPECT_THAT(CreateLease("'preferredHolder':'h'"),
              ElementsAre("spec.preferredHolder: Forbidden: may only be specified if `strategy` is "
                          "defined"));
}

TEST(Lease, Update) {
  const codec::Value old = WithSpec("");
  EXPECT_THAT(Lines(ValidateLeaseUpdate(WithSpec("'leaseDurationSeconds':15"), old)), IsEmpty());
  EXPECT_THAT(Lines(ValidateLeaseUpdate(WithSpec("'leaseDurationSeconds':-1"), old)),
              testing::SizeIs(1));
}

TEST(Lease, NameIsASubdomain) {
  EXPECT_THAT(Lines(ValidateLeaseCreate(Json("{'metadata':{'name':'A','namespace':'n'}}"))),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"A\": a lowercase RFC 1123 "
                                    "subdomain")));
}

}  // namespace
}  // namespace berth::rules
