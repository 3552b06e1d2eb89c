#include "allocation/bitmaps/store_form.h"

#include <gtest/gtest.h>

#include "ip/cidr.h"

namespace berth::allocation {
namespace {

using FormChange = StoreForm::Change;

constexpr PoolValue kSomePort{.pool = PoolId::kPorts, .value = 30009};

alloc::RangeTable TwoRanges() {
  alloc::RangeTable table{.primary = PoolId::kIpv4};
  for (const char* text : {"10.0.0.0/24", "10.0.1.0/24"}) {
    table.rows[PoolId::kIpv4].push_back(
        {.name = text, .text = text, .layout = *alloc::LayoutOf(ip::ParseCidr(text).value())});
  }
  return table;
}

PoolValue AddressOf(const char* text) {
  return {.pool = PoolId::kIpv4, .value = ip::ParseAddr(text)->bits()};
}

TEST(StoreFormTest, WithRecordsOnlyEverythingFits) {
  StoreForm form;
  alloc::RangeTable table = TwoRanges();
  EXPECT_TRUE(form.Fit(table).empty());
  EXPECT_EQ(table.rows[PoolId::kIpv4].size(), 2U);
  EXPECT_TRUE(form.RecordsCount());
  EXPECT_TRUE(form.HasReservations());
  EXPECT_TRUE(form.HasRoomFor(kSomePort));
  Grant grant;
  form.AddTo(grant);
  EXPECT_EQ(grant.form, AllocationForm::kRecords);
  EXPECT_EQ(grant.bitmaps, nullptr);
}

TEST(StoreFormTest, WithBitmapsOnlyTheFirstRangeFits) {
  StoreForm form;
  EXPECT_EQ(form.Set(AllocationForm::kToBitmaps, 4), FormChange::kRanges);
  alloc::RangeTable table = TwoRanges();
  const auto left_out = form.Fit(table);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out[0].row.name, "10.0.1.0/24");
  EXPECT_EQ(table.rows[PoolId::kIpv4].size(), 1U);
  EXPECT_TRUE(form.HasRoomFor(AddressOf("10.0.0.1")));
  EXPECT_FALSE(form.HasRoomFor(AddressOf("10.0.1.1")));
  EXPECT_FALSE(form.HasRoomFor(kSomePort)) << "the pool has no range";
  EXPECT_FALSE(form.HasReservations());
  Grant grant;
  form.AddTo(grant);
  EXPECT_EQ(grant.form_revision, 4);
  EXPECT_EQ(grant.bitmaps, form.state().bitmaps);
}

TEST(StoreFormTest, AChangeSaysWhetherTheOtherFormCounts) {
  StoreForm form;
  EXPECT_EQ(form.Set(AllocationForm::kRecords, 1), FormChange::kNone);
  EXPECT_EQ(form.Set(AllocationForm::kToBitmaps, 2), FormChange::kRanges);
  EXPECT_EQ(form.Set(AllocationForm::kBitmaps, 3), FormChange::kSource);
  EXPECT_EQ(form.Set(AllocationForm::kBitmaps, 4), FormChange::kNone);
  EXPECT_EQ(form.state().revision, 4);
  EXPECT_EQ(form.Set(AllocationForm::kToRecords, 5), FormChange::kRanges);
  EXPECT_EQ(form.Set(AllocationForm::kRecords, 6), FormChange::kSource);
}

TEST(StoreFormTest, RecordsThatDoNotCountAreNoted) {
  StoreForm form;
  form.Set(AllocationForm::kToRecords, 1);
  EXPECT_FALSE(form.RecordsCount());
  form.NoteRecord(kSomePort, true);
  form.NoteRecord(AddressOf("10.0.0.1"), true);
  form.NoteRecord(AddressOf("10.0.0.1"), false);
  size_t values = 0;
  for (const StoredValues& noted : form.TakeNotedRecords()) {
    values += noted.taken.size();
    if (noted.pool == PoolId::kPorts) {
      EXPECT_EQ(noted.taken, std::vector<U128>{kSomePort.value});
    }
  }
  EXPECT_EQ(values, 1U);
  for (const StoredValues& noted : form.TakeNotedRecords()) EXPECT_TRUE(noted.taken.empty());
}

}  // namespace
}  // namespace berth::allocation
