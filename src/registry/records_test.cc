#include "registry/records.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/storage.h"
#include "codec/timestamp.h"

namespace berth::registry {
namespace {

using commit::PoolId;

class RecordMakerTest : public ::testing::Test {
 protected:
  /// Both ways, in all forms, come to the same bytes.
  void ExpectSame(const Owner& owner, base::WallTime now) {
    const commit::PoolValue values[] = {
        {.pool = PoolId::kIpv4, .value = 0x0A600001},
        {.pool = PoolId::kIpv4, .value = 0xFFFFFFFE},
        {.pool = PoolId::kIpv6, .value = base::MakeU128(0xFD000010'00960000, 0xABCD)},
        {.pool = PoolId::kIpv6, .value = base::MakeU128(0xFD001111'22223333, 0x4444555566667777)},
        {.pool = PoolId::kPorts, .value = 1},
        {.pool = PoolId::kPorts, .value = 30080}};
    for (const auto& value : values) {
      for (const Chosen chosen : {Chosen::kStatic, Chosen::kDynamic}) {
        for (const bool health_check : {false, true}) {
          const RecordFacts facts{.value = value, .chosen = chosen, .health_check = health_check};
          const std::string uid = "0fb0d1f1-3a14-4b63-a7f8-0c8cbb9a5f0b";
          const commit::ExtraPut slow = NewRecord(rows_, owner, facts, uid, now);
          const commit::ExtraPut fast = maker_.Make(owner, facts, uid, now);
          ASSERT_EQ(fast.key, slow.key);
          ASSERT_EQ(fast.stored, slow.stored) << slow.wire.text;
          ASSERT_EQ(fast.wire.text, slow.wire.text);
          ASSERT_EQ(fast.wire.metadata_at, slow.wire.metadata_at);
          ASSERT_EQ(fast.wire.version_at, slow.wire.version_at);
          ASSERT_EQ(fast.wire.hidden, slow.wire.hidden);
          ASSERT_EQ(fast.expected, slow.expected);
          ASSERT_EQ(fast.wire.own.count, slow.wire.own.count);
          for (size_t i = 0; i < slow.wire.own.count; ++i) {
            ASSERT_EQ(fast.wire.own.parts[i].at, slow.wire.own.parts[i].at);
            ASSERT_EQ(fast.wire.own.parts[i].size, slow.wire.own.parts[i].size);
          }
        }
      }
    }
  }

  const Kinds kinds_;
  const RecordRows rows_ = RecordRowsOf(kinds_);
  RecordMaker maker_{rows_};
};

TEST_F(RecordMakerTest, TheSameBytesAsOneByOne) {
  const std::string long_name(63, 'x');
  const std::string uid = "5b4f4ee7-0c8c-4b63-a7f8-0fb0d1f13a14";
  for (const char* time : {"2026-11-15T04:35:00Z", "2026-11-15T04:35:01Z", "1970-01-01T00:00:00Z",
                           "2199-12-31T23:59:59Z"}) {
    const base::WallTime now = *codec::ParseTime(time);
    ExpectSame({.name_space = "shop", .name = "web", .uid = uid}, now);
    ExpectSame({.name_space = "a", .name = "b", .uid = uid}, now);
    ExpectSame({.name_space = long_name, .name = long_name, .uid = uid}, now);
  }
}

TEST_F(RecordMakerTest, TextsThatJsonWritesInAnotherWay) {
  const base::WallTime now = *codec::ParseTime("2026-11-15T04:35:00Z");
  ExpectSame({.name_space = "a\"b", .name = "<c>", .uid = "\xC3\xA9"}, now);
  ExpectSame({.name_space = "", .name = "", .uid = ""}, now);
}

TEST_F(RecordMakerTest, PartsOfASecondDoNotShow) {
  const base::WallTime now = *codec::ParseTime("2026-11-15T04:35:00Z");
  const Owner owner{.name_space = "shop", .name = "web", .uid = "u"};
  ExpectSame(owner, now + std::chrono::milliseconds(999));
  ExpectSame(owner, now + std::chrono::milliseconds(1001));
}

}  // namespace
}  // namespace berth::registry
