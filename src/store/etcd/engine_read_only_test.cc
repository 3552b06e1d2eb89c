// The engine that only reads, on a real etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "store/blocking.h"
#include "store/etcd/await.h"
#include "store/etcd/etcd_read_only.h"
#include "store/etcd/testing/shared_etcd.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::etcd {
namespace {

using contract::MakeValue;
using contract::Payload;
using testing::SharedEtcd;

class ReadOnlyOnEtcd : public ::testing::Test {
 protected:
  base::Result<std::unique_ptr<EtcdEngine>> Open() const {
    return OpenReadOnly(SharedEtcd::Cluster().Client(), options_, contract::TestSlotCodec(),
                        SharedEtcd::Log().Logger(), SharedEtcd::Log().Clock());
  }

  const EtcdOptions options_ = {.prefix = SharedEtcd::FreshPrefix()};
};

TEST_F(ReadOnlyOnEtcd, PagesAreOfOneRevisionAndNothingIsWritten) {
  const auto writer = SharedEtcd::Open(options_);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const std::string key : {"/registry/t/a", "/registry/t/b", "/registry/t/c"}) {
    CommitNow(**writer, {.puts = {{.key = key, .value = MakeValue("old")}}});
  }
  // The writer has housekeeping of its own, so one of several undisturbed looks is enough. A look
  // that writes something would never be undisturbed.
  bool undisturbed = false;
  for (int looks = 0; looks < 100 && !undisturbed; ++looks) {
    const Revision before = *CurrentNow(**writer);
    {
      const auto reader = Open();
      ASSERT_TRUE(reader) << reader.error().message;
      const auto first = ScanPageNow(**reader, {.prefix = "/registry/t/", .limit = 1});
      ASSERT_TRUE(first) << first.error().message;
      EXPECT_GE(first->at, before);
      EXPECT_GE(*CurrentNow(**reader), before);
      EXPECT_EQ(Payload((*GetNow(**reader, "/registry/t/a"))->value), "old");
    }
    undisturbed = *CurrentNow(**writer) == before;
  }
  EXPECT_TRUE(undisturbed) << "opening, reading and closing have written something";

  const auto reader = Open();
  ASSERT_TRUE(reader) << reader.error().message;
  const auto first = ScanPageNow(**reader, {.prefix = "/registry/t/", .limit = 1});
  CommitNow(**writer, {.puts = {{.key = "/registry/t/b", .value = MakeValue("new")}}});
  const auto second = ScanPageNow(
      **reader, {.prefix = "/registry/t/", .after = "/registry/t/a", .at = first->at, .limit = 1});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(Payload(second->entries.at(0).value), "old");
}

TEST_F(ReadOnlyOnEtcd, WritesAndWatchesAreRefused) {
  ASSERT_TRUE(SharedEtcd::Open(options_));
  const auto reader = Open();
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(
      CommitNow(**reader, {.puts = {{.key = "/registry/t/a", .value = MakeValue("x")}}}).outcome,
      Outcome::kRefused);
  EXPECT_FALSE(CompactNow(**reader, *CurrentNow(**reader)));
  EXPECT_FALSE((*reader)->Follow({}, [] {})->Poll(1));
  EXPECT_FALSE((*reader)->ReadHistory({.prefix = "/registry/"}));
  EXPECT_FALSE((*reader)->GetHealth().writable);
}

TEST_F(ReadOnlyOnEtcd, APrefixWithoutAStoreStaysEmpty) {
  for (int i = 0; i < 2; ++i) {
    const auto reader = Open();
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().reason, base::Reason::kNotFound);
  }
}

}  // namespace
}  // namespace berth::store::etcd
