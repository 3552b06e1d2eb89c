// A stored Service keeps its values with and without records, and releases only records of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "allocation/record_changes.h"
#include "allocation/testing/form_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kBoth =
    "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]";

class RecordOwnerTest : public allocation::testing::FormsTest {
 protected:
  std::string AddressKey() const { return rows_.ip_addresses->prefix + "10.96.0.10"; }
  std::string PortKey() const { return rows_.node_ports->prefix + "30009"; }
  /// Deletes the records of 10.96.0.10 and 30009 straight in the store.
  void LoseRecords() {
    store_.Delete(AddressKey());
    store_.Delete(PortKey());
    PumpAll();
  }
  /// Puts a Service straight into the store. `change` changes the copy of an existing one.
  template <typename Change>
  void PutCopy(const std::string& name, const std::string& copy, const Change& change) {
    codec::Value service = Get(Service(name)).value_or(codec::Object());
    codec::SetAt(service, {"metadata", "name"}, copy);
    change(service);
    store_.Put(rows_.services->prefix + "shop/" + copy,
               codec::EncodeStored(service, *rows_.services->kind));
    PumpAll();
  }
  void PutTwin(const std::string& name, const std::string& twin) {
    PutCopy(name, twin,
            [](codec::Value& service) { codec::SetAt(service, {"metadata", "uid"}, "another"); });
  }
  std::string OwnerOfPort() const {
    const auto port = Get(At("allocation.berth.io/nodeports", "", "30009"));
    return port ? std::string(codec::StringAt(*port, "status", "service", "name")) : "";
  }
  std::string OwnerOfAddress() const {
    const auto address = Get(At("networking.k8s.io/ipaddresses", "", "10.96.0.10"));
    return address ? std::string(codec::StringAt(*address, "spec", "parentRef", "name")) : "";
  }
  void ExpectTaken() {
    EXPECT_THAT(Text(Make("other", "'clusterIP':'10.96.0.10'")),
                HasSubstr("failed to allocate IP 10.96.0.10: provided IP is already allocated"));
    EXPECT_THAT(Text(Make("other", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]")),
                HasSubstr("Invalid value: 30009: provided port is already allocated"));
  }
  void ExpectFree() {
    Must(Make("other", kBoth));
    Must(Delete(Service("other")));
  }
};

TEST_F(RecordOwnerTest, AServiceWhoseRecordsAreLostKeepsItsValues) {
  Made("a", kBoth);
  LoseRecords();
  ExpectTaken();
  Must(Delete(Service("a")));
  ExpectFree();
}

TEST_F(RecordOwnerTest, AServiceThatWasWrittenStraightIntoTheStoreKeepsItsValues) {
  Made("a", kBoth);
  PutTwin("a", "b");
  LoseRecords();
  Must(Delete(Service("a")));
  ExpectTaken();
  Must(Delete(Service("b")));
  ExpectFree();
}

TEST_F(RecordOwnerTest, AReleaseLeavesRecordsOfAnotherServiceAlone) {
  Made("a", kBoth);
  PutTwin("a", "b");
  Must(Delete(Service("b")));
  EXPECT_EQ(OwnerOfAddress(), "a");
  EXPECT_EQ(OwnerOfPort(), "a");
  ExpectTaken();
  Must(Delete(Service("a")));
  EXPECT_THAT(Records(), IsEmpty());
  ExpectFree();
}

TEST_F(RecordOwnerTest, AReleaseDeletesItsOwnRecordsAlsoIfAnotherServiceHoldsTheValues) {
  Made("a", kBoth);
  PutTwin("a", "b");
  Must(Delete(Service("a")));
  EXPECT_THAT(Records(), IsEmpty());
  ExpectTaken();
  Must(Delete(Service("b")));
  ExpectFree();
}

TEST_F(RecordOwnerTest, APortOfAServiceOfThatNameWithAnotherUidIsNotItsOwn) {
  Made("a", kBoth);
  PutCopy("a", "a",
          [](codec::Value& service) { codec::SetAt(service, {"metadata", "uid"}, "another"); });
  Must(Delete(Service("a")));
  EXPECT_EQ(OwnerOfPort(), "a") << "it says a uid";
  EXPECT_EQ(OwnerOfAddress(), "") << "it says only a name";
}

TEST_F(RecordOwnerTest, AnUpdateReleasesOnlyItsOwnRecords) {
  Made("a", kBoth);
  PutTwin("a", "b");
  Must(Update(Service("b"),
              "{'metadata':{'name':'b'},'spec':{'type':'ExternalName','externalName':'x.y'}}"));
  EXPECT_EQ(OwnerOfAddress(), "a");
  EXPECT_EQ(OwnerOfPort(), "a");
}

TEST_F(RecordOwnerTest, TheRecordOfAPortIsChangedOnlyByItsOwner) {
  Made("a", kBoth);
  PutTwin("a", "b");
  const std::string spec =
      "'clusterIP':'10.96.0.10','type':'NodePort','ports':[{'port':81,'nodePort':30009}]";
  const int64_t before = follower_->Current()->Find(PortKey())->Revision();
  Must(Update(Service("b"), "{'metadata':{'name':'b'},'spec':{" + spec + "}}"));
  EXPECT_EQ(follower_->Current()->Find(PortKey())->Revision(), before);
  Must(Update(Service("a"), "{'metadata':{'name':'a'},'spec':{" + spec + "}}"));
  EXPECT_GT(follower_->Current()->Find(PortKey())->Revision(), before);
}

TEST_F(RecordOwnerTest, ARecordThatAppearsWhileItsServiceGoesIsReleasedToo) {
  Made("a", kBoth);
  const auto address = follower_->Current()->Find(AddressKey());
  ASSERT_NE(address, nullptr);
  const auto page = store::ScanPageNow(*store_.engine, {.prefix = AddressKey(), .limit = 1});
  ASSERT_TRUE(page);
  const std::string stored = page->entries[0].value;
  LoseRecords();
  // The delete is decided on a snapshot without the record, and in the store there is one again.
  std::optional<base::Result<registry::Outcome>> answer;
  store_.Put(AddressKey(), stored);
  registry_->Delete(Service("a"), {}, {}, [&answer](base::Result<registry::Outcome> outcome) {
    answer = std::move(outcome);
  });
  PumpAll();
  ASSERT_TRUE(answer && *answer);
  EXPECT_THAT(Records(), IsEmpty());
}

TEST_F(RecordOwnerTest, NobodyGetsAValueByDeletingOneOfItsTwoServices) {
  Made("a", kBoth);
  LoseRecords();
  // What used to happen: another Service got the values, and the first one released its records.
  EXPECT_FALSE(Make("b", kBoth));
  Must(Delete(Service("a")));
  Made("b", kBoth);
  EXPECT_EQ(OwnerOfAddress(), "b");
  EXPECT_EQ(OwnerOfPort(), "b");
}

TEST_F(RecordOwnerTest, StatusCountsAValueWithoutARecordAsTaken) {
  const auto taken = [this] {
    U128 count = 0;
    for (const RangeState& range : LedgerView(addresses_.ledger).Ranges()) {
      count += range.in_static[alloc::State::kTaken] + range.in_dynamic[alloc::State::kTaken];
    }
    return count;
  };
  Made("a", kBoth);
  EXPECT_EQ(taken(), 2u);
  LoseRecords();
  EXPECT_EQ(taken(), 2u);
}

TEST_F(RecordOwnerTest, WhereBitmapsCountAServiceKeepsItsValuesWithoutBits) {
  BeginWith(AllocationForm::kBitmaps);
  Made("a", kBoth);
  PutBitmap(BitmapId::kPrimary, "10.96.0.0/16");
  PutBitmap(BitmapId::kPorts, "30000-32767");
  ExpectTaken();
  Must(Delete(Service("a")));
  ExpectFree();
}

TEST_F(RecordOwnerTest, WhereBitmapsCountTheBitsOfTwoServicesStaySet) {
  BeginWith(AllocationForm::kBitmaps);
  Made("a", kBoth);
  PutTwin("a", "b");
  Must(Delete(Service("a")));
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.10", "30009"));
  ExpectTaken();
  Must(Delete(Service("b")));
  EXPECT_THAT(Bits(), IsEmpty());
  ExpectFree();
}

TEST_F(RecordOwnerTest, WhileAStoreChangesItsFormNoRecordOfAnotherServiceIsTouched) {
  for (const AllocationForm form : {AllocationForm::kToRecords, AllocationForm::kToBitmaps}) {
    BeginWith(form);
    Made("a", kBoth);
    PutTwin("a", "b");
    Must(Delete(Service("b")));
    EXPECT_EQ(OwnerOfAddress(), "a");
    EXPECT_EQ(OwnerOfPort(), "a");
    EXPECT_THAT(Bits(), ElementsAre("10.96.0.10", "30009"));
    PutTwin("a", "b");
    Must(Delete(Service("a")));
    EXPECT_THAT(Records(), IsEmpty());
    ExpectTaken();
    Must(Delete(Service("b")));
    ExpectFree();
  }
}

TEST_F(RecordOwnerTest, ARecordBelongsToTheServiceThatItNames) {
  const codec::Value service = Made("a", kBoth);
  const std::string uid(codec::StringAt(service, "metadata", "uid"));
  const auto snapshot = follower_->Current();
  const auto address = snapshot->Find(AddressKey());
  const auto port = snapshot->Find(PortKey());
  const Owner owner{.name_space = "shop", .name = "a", .uid = uid};
  EXPECT_TRUE(BelongsTo(rows_, *address, owner));
  EXPECT_TRUE(BelongsTo(rows_, *port, owner));
  for (const Owner& other : {Owner{.name_space = "shop", .name = "b", .uid = uid},
                             Owner{.name_space = "sho", .name = "a", .uid = uid}}) {
    EXPECT_FALSE(BelongsTo(rows_, *address, other));
    EXPECT_FALSE(BelongsTo(rows_, *port, other));
  }
  EXPECT_FALSE(BelongsTo(rows_, *port, {.name_space = "shop", .name = "a", .uid = "another"}));
}

TEST_F(RecordOwnerTest, AReservationDoesNotBelongToTheServiceThatItIsFor) {
  Must(Create(At("allocation.berth.io/nodeports", "", ""),
              "{'metadata':{'name':'30009'},'spec':{'reservedFor':{'namespace':'shop',"
              "'name':'a'}}}"));
  EXPECT_FALSE(BelongsTo(rows_, *follower_->Current()->Find(PortKey()),
                         {.name_space = "shop", .name = "a", .uid = "any"}));
}

}  // namespace
}  // namespace berth::allocation
