#include "allocation/records.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "rules/record_notes.h"
#include "state/object.h"

namespace berth::allocation {
namespace {

class RecordMakerTest : public ::testing::Test {
 protected:
  /// Expects that NewRecord and RecordMaker make the same bytes, in all forms.
  void ExpectSame(const Owner& owner, base::WallTime now) {
    const std::vector<PortUse> ports = {{.name = "dns", .port = 53, .protocol = "UDP"},
                                        {.port = 5353, .protocol = "TCP"}};
    const std::vector<PortUse> odd = {{.name = "<a>", .port = 1, .protocol = "TCP"},
                                      {.port = 0, .protocol = "TCP"},
                                      {.port = 7, .protocol = ""}};
    const PoolValue values[] = {
        {.pool = PoolId::kIpv4, .value = 0x0A600001},
        {.pool = PoolId::kIpv4, .value = 0xFFFFFFFE},
        {.pool = PoolId::kIpv6, .value = base::MakeU128(0xFD000010'00960000, 0xABCD)},
        {.pool = PoolId::kIpv6, .value = base::MakeU128(0xFD001111'22223333, 0x4444555566667777)},
        {.pool = PoolId::kPorts, .value = 1},
        {.pool = PoolId::kPorts, .value = 30080}};
    for (const auto& value : values) {
      for (const Chosen chosen : {Chosen::kStatic, Chosen::kDynamic}) {
        for (const bool health_check : {false, true}) {
          ExpectSame(owner, now, {.value = value, .chosen = chosen, .health_check = health_check});
          ExpectSame(owner, now,
                     {.value = value,
                      .chosen = chosen,
                      .range = "blue",
                      .health_check = health_check,
                      .ports = ports});
          ExpectSame(owner, now, {.value = value, .range = "a\"b"});
          for (const PortUse& port : odd) {
            ExpectSame(owner, now, {.value = value, .ports = {port}});
          }
        }
      }
    }
  }
  void ExpectSame(const Owner& owner, base::WallTime now, const RecordFacts& facts) {
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

  const registry::Kinds kinds_;
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

TEST_F(RecordMakerTest, AnAddressNotesARangeThatIsNotTheDefaultOne) {
  const Owner owner{.name_space = "shop", .name = "web", .uid = "u"};
  const PoolValue value{.pool = PoolId::kIpv4, .value = 0x0A600001};
  EXPECT_EQ(maker_.Make(owner, {.value = value}, "u", {}).wire.hidden, "dynamic\nuid=u");
  EXPECT_EQ(maker_.Make(owner, {.value = value, .range = "blue"}, "u", {}).wire.hidden,
            "dynamic\nrange=blue\nuid=u");
}

TEST_F(RecordMakerTest, PartsOfASecondDoNotShow) {
  const base::WallTime now = *codec::ParseTime("2026-11-15T04:35:00Z");
  const Owner owner{.name_space = "shop", .name = "web", .uid = "u"};
  ExpectSame(owner, now + std::chrono::milliseconds(999));
  ExpectSame(owner, now + std::chrono::milliseconds(1001));
}

/// What the ledger reads in records.
class ReadRecordTest : public ::testing::Test {
 protected:
  /// Returns "state value reserved-for", or an empty string if the object is not a record.
  std::string Read(const std::string& key, const state::WireText& wire) const {
    const auto object = state::Object::Make(*resources_.Find(key), 7, wire);
    const auto info = ReadRecord(rows_, *object);
    if (!info) return "";
    static constexpr const char* kStates[] = {"allocated", "reserved", "pending", "cooling"};
    return std::string(kStates[static_cast<size_t>(info->state)]) + " " + RecordName(info->value) +
           " " + info->reserved_for;
  }
  std::string ReadAddress(const std::string& name, const std::string& hidden) const {
    const codec::Value object = codec::Object{{"metadata", codec::Object{{"name", name}}}};
    return Read(rows_.ip_addresses->prefix + name,
                registry::ToWireText(*rows_.ip_addresses, object, hidden));
  }
  std::string ReadPort(const std::string& json) const {
    const codec::Value object = codec::ParseJson(json).value();
    return Read(rows_.node_ports->prefix + std::string(codec::StringAt(object, "metadata", "name")),
                registry::ToWireText(*rows_.node_ports, object, ""));
  }

  const registry::Kinds kinds_;
  const RecordRows rows_ = RecordRowsOf(kinds_);
  const state::Resources resources_ = kinds_.MakeResources();
};

TEST_F(ReadRecordTest, WhatTheAllocatorHasMadeIsAllocated) {
  const Owner owner{.name_space = "shop", .name = "web", .uid = "u"};
  for (const PoolValue& value : {PoolValue{.pool = PoolId::kIpv4, .value = 0x0A600001},
                                 PoolValue{.pool = PoolId::kPorts, .value = 30080}}) {
    const commit::ExtraPut put = NewRecord(rows_, owner, {.value = value}, "u", {});
    EXPECT_EQ(Read(put.key, put.wire), "allocated " + RecordName(value) + " ");
  }
}

TEST_F(ReadRecordTest, AddressesSayItInTheirNotes) {
  EXPECT_EQ(ReadAddress("10.0.0.1", ""), "reserved 10.0.0.1 ") << "somebody made it";
  for (const auto& [state, text] : {std::pair(rules::RecordState::kAllocated, "allocated"),
                                    std::pair(rules::RecordState::kReserved, "reserved"),
                                    std::pair(rules::RecordState::kPending, "pending"),
                                    std::pair(rules::RecordState::kFree, "cooling")}) {
    rules::RecordNotes notes{.state = state, .reserved_for = "shop/web"};
    if (state == rules::RecordState::kAllocated) notes.chosen = rules::ChosenBy::kOwner;
    EXPECT_EQ(ReadAddress("fd00::1", rules::HiddenOf(notes)),
              std::string(text) + " fd00::1 shop/web");
  }
}

TEST_F(ReadRecordTest, WhatAKubeApiserverMadeForAServiceIsAllocated) {
  const std::string parent =
      R"("spec":{"parentRef":{"resource":"services","namespace":"shop","name":"web"}}})";
  const std::string label =
      R"({"metadata":{"name":"10.0.0.1","labels":{"ipaddress.kubernetes.io/managed-by":)";
  const auto read = [this](const std::string& json) {
    return Read(rows_.ip_addresses->prefix + "10.0.0.1",
                registry::ToWireText(*rows_.ip_addresses, codec::ParseJson(json).value()));
  };
  EXPECT_EQ(read(label + R"("ipallocator.k8s.io"}},)" + parent), "allocated 10.0.0.1 ");
  EXPECT_EQ(read(label + R"("me"}},)" + parent), "reserved 10.0.0.1 ");
  EXPECT_EQ(read(R"({"metadata":{"name":"10.0.0.1"},)" + parent), "reserved 10.0.0.1 ");
  EXPECT_EQ(read(label + R"("ipallocator.k8s.io"}}})"), "reserved 10.0.0.1 ");
}

TEST_F(ReadRecordTest, PortsSayItInTheirStatus) {
  EXPECT_EQ(ReadPort(R"({"metadata":{"name":"80"},"status":{"state":"Free"}})"), "cooling 80 ");
  EXPECT_EQ(ReadPort(R"({"metadata":{"name":"80"},"status":{"state":"Reserved"}})"),
            "reserved 80 ");
  EXPECT_EQ(ReadPort(R"({"metadata":{"name":"80"},
                         "spec":{"reservedFor":{"namespace":"shop","name":"web"}},
                         "status":{"state":"Pending"}})"),
            "pending 80 shop/web");
  EXPECT_EQ(ReadPort(R"({"metadata":{"name":"80"},
                         "spec":{"reservedFor":{"namespace":"shop","name":"web"}},
                         "status":{"state":"Allocated"}})"),
            "allocated 80 shop/web");
  EXPECT_EQ(ReadPort(R"({"metadata":{"name":"80","annotations":{"state":"Allocated"}}})"),
            "reserved 80 ");
}

TEST_F(ReadRecordTest, OtherObjectsAreNone) {
  EXPECT_EQ(Read("/registry/servicecidrs/kubernetes",
                 registry::ToWireText(*rows_.service_cidrs, codec::Object{}, "")),
            "");
}

}  // namespace
}  // namespace berth::allocation
