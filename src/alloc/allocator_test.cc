// One suite for both ways to store a range.
#include "alloc/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alloc/bitmap_ranges.h"

namespace berth::alloc {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

/// A range and what a store holds of it. Open makes an allocator of that; Save stores what it says.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::unique_ptr<Allocator> Open(base::Random& random) = 0;
  virtual void Save(const Allocator& allocator) = 0;

  std::string range = {};
  Layout layout = {};
};

class RecordStore final : public Store {
 public:
  std::unique_ptr<Allocator> Open(base::Random& random) override {
    const std::vector<U128> stored(records_.begin(), records_.end());
    return std::make_unique<RecordAllocator>(range, layout, stored, random);
  }
  void Save(const Allocator& allocator) override {
    const BitmapChange changes = dynamic_cast<const RecordAllocator&>(allocator).Changes();
    for (const U128 value : changes.gives) ASSERT_EQ(records_.erase(value), 1U);
    for (const U128 value : changes.takes) ASSERT_TRUE(records_.insert(value).second);
  }

 private:
  std::set<U128> records_;
};

class BitmapStore final : public Store {
 public:
  explicit BitmapStore(BitmapForm form) : form_(std::move(form)) { stored_.range = form_.range(); }
  std::unique_ptr<Allocator> Open(base::Random& random) override {
    return std::make_unique<BitmapAllocator>(
        BitmapAllocator::Load(form_, layout, stored_, random).value());
  }
  void Save(const Allocator& allocator) override {
    stored_ = dynamic_cast<const BitmapAllocator&>(allocator).Stored();
  }

 private:
  BitmapForm form_;
  RangeAllocation stored_;
};

class AllocatorTest : public ::testing::TestWithParam<bool> {
 protected:
  void Use(const std::string& cidr, const RangeOptions& options = {}) {
    const ip::Cidr parsed = ip::ParseCidr(cidr).value();
    UseForm(BitmapForm::Of(parsed), BitmapLayoutOf(parsed, options).value());
  }
  void UsePorts(const std::string& ports) {
    const ip::PortRange parsed = ip::ParsePortRange(ports).value();
    UseForm(BitmapForm::Of(parsed), LayoutOf(parsed).value());
  }
  /// Stores what was done, and begins again with what is stored.
  void SaveAndReopen() {
    store_->Save(*range_);
    range_ = store_->Open(random_);
  }
  std::vector<U128> All() const {
    std::vector<U128> all;
    range_->ForEach([&all](U128 value) { all.push_back(value); });
    return all;
  }

  std::unique_ptr<Allocator> range_;

 private:
  void UseForm(const BitmapForm& form, Layout layout) {
    store_ = GetParam() ? std::unique_ptr<Store>(std::make_unique<BitmapStore>(form))
                        : std::make_unique<RecordStore>();
    store_->range = form.range();
    store_->layout = std::move(layout);
    range_ = store_->Open(random_);
  }

  base::SeededRandom random_{3};
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(, AllocatorTest, ::testing::Bool(),
                         [](const auto& suite) { return suite.param ? "Bitmap" : "Records"; });

TEST_P(AllocatorTest, GivesOutWhatIsAskedForOnce) {
  Use("10.0.0.0/24");
  EXPECT_EQ(range_->Cidr(), "10.0.0.0/24");
  EXPECT_FALSE(range_->Has(Value("10.0.0.5")));
  EXPECT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kDone);
  EXPECT_TRUE(range_->Has(Value("10.0.0.5")));
  EXPECT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kTaken);
  SaveAndReopen();
  EXPECT_TRUE(range_->Has(Value("10.0.0.5")));
  EXPECT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kTaken);
}

TEST_P(AllocatorTest, WhatIsNotInTheRangeIsNot) {
  Use("10.0.0.0/24");
  for (const char* text : {"10.0.0.0", "10.0.0.255", "10.0.1.1", "9.255.255.255"}) {
    EXPECT_EQ(range_->Allocate(Value(text)), Outcome::kOutOfRange) << text;
    EXPECT_FALSE(range_->Has(Value(text)));
    range_->Release(Value(text));
  }
  EXPECT_THAT(All(), IsEmpty());
}

TEST_P(AllocatorTest, WhatIsReleasedCanBeHadAgain) {
  Use("10.0.0.0/24");
  ASSERT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kDone);
  SaveAndReopen();
  range_->Release(Value("10.0.0.5"));
  range_->Release(Value("10.0.0.5"));  // It is free by now, which is fine.
  range_->Release(Value("10.0.0.6"));
  EXPECT_FALSE(range_->Has(Value("10.0.0.5")));
  SaveAndReopen();
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kDone);
}

TEST_P(AllocatorTest, WhatComesToNothingIsNotStored) {
  Use("10.0.0.0/24");
  ASSERT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kDone);
  SaveAndReopen();
  range_->Release(Value("10.0.0.5"));
  ASSERT_EQ(range_->Allocate(Value("10.0.0.5")), Outcome::kDone);
  ASSERT_EQ(range_->Allocate(Value("10.0.0.6")), Outcome::kDone);
  range_->Release(Value("10.0.0.6"));
  const BitmapChange changes = dynamic_cast<IndexedAllocator&>(*range_).Changes();
  EXPECT_THAT(changes.takes, IsEmpty());
  EXPECT_THAT(changes.gives, IsEmpty());
  SaveAndReopen();
  EXPECT_THAT(All(), ElementsAre(Value("10.0.0.5")));
}

TEST_P(AllocatorTest, WalksWhatIsTakenInOrder) {
  Use("10.0.0.0/24");
  for (const char* text : {"10.0.0.200", "10.0.0.1", "10.0.0.254", "10.0.0.17"}) {
    ASSERT_EQ(range_->Allocate(Value(text)), Outcome::kDone);
  }
  const auto in_order =
      ElementsAre(Value("10.0.0.1"), Value("10.0.0.17"), Value("10.0.0.200"), Value("10.0.0.254"));
  EXPECT_THAT(All(), in_order);
  SaveAndReopen();
  EXPECT_THAT(All(), in_order);
}

/// A /24 has a static band of 16.
TEST_P(AllocatorTest, PicksFromTheDynamicBandFirstAndEndsWhenAllIsTaken) {
  Use("10.0.0.0/24");
  std::set<U128> seen;
  for (int i = 0; i < 254; ++i) {
    const std::optional<U128> value = range_->AllocateNext();
    ASSERT_TRUE(value);
    EXPECT_TRUE(seen.insert(*value).second);
    EXPECT_EQ(*value >= Value("10.0.0.17"), i < 238) << i;
    if (i % 50 == 0) SaveAndReopen();
  }
  EXPECT_FALSE(range_->AllocateNext());
  SaveAndReopen();
  EXPECT_FALSE(range_->AllocateNext());
  EXPECT_EQ(All().size(), 254U);
  range_->Release(Value("10.0.0.77"));
  EXPECT_EQ(range_->AllocateNext(), Value("10.0.0.77"));
}

TEST_P(AllocatorTest, AStrictRangeKeepsItsStaticBand) {
  Use("10.0.0.0/28", {.static_band = 4, .strict = true});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(range_->AllocateNext());
  EXPECT_FALSE(range_->AllocateNext());
  EXPECT_EQ(range_->Allocate(Value("10.0.0.1")), Outcome::kDone);
}

TEST_P(AllocatorTest, WhatIsExcludedIsNotGivenOut) {
  Use("10.0.0.0/29", {.excluded = {{.first = Value("10.0.0.2"), .last = Value("10.0.0.5")}}});
  EXPECT_EQ(range_->Allocate(Value("10.0.0.2")), Outcome::kExcluded);
  ASSERT_TRUE(range_->AllocateNext());
  ASSERT_TRUE(range_->AllocateNext());
  EXPECT_FALSE(range_->AllocateNext());
  SaveAndReopen();
  EXPECT_THAT(All(), ElementsAre(Value("10.0.0.1"), Value("10.0.0.6")));
}

TEST_P(AllocatorTest, ARangeWithNothingInItIsFull) {
  Use("10.0.0.0/31");
  EXPECT_FALSE(range_->AllocateNext());
  EXPECT_EQ(range_->Allocate(Value("10.0.0.1")), Outcome::kOutOfRange);
}

TEST_P(AllocatorTest, Ports) {
  UsePorts("30000-32767");
  EXPECT_EQ(range_->Cidr(), "30000-32767");
  EXPECT_EQ(range_->Allocate(30000), Outcome::kDone);
  EXPECT_EQ(range_->Allocate(32767), Outcome::kDone);
  EXPECT_EQ(range_->Allocate(32768), Outcome::kOutOfRange);
  const std::optional<U128> any = range_->AllocateNext();
  ASSERT_TRUE(any);
  EXPECT_GE(*any, U128{30086}) << "the first 86 are the static band";
  SaveAndReopen();
  EXPECT_THAT(All(), ElementsAre(30000, *any, 32767));
}

TEST_P(AllocatorTest, Ipv6) {
  Use("fd00::/112");
  EXPECT_EQ(range_->Allocate(Value("fd00::")), Outcome::kOutOfRange);
  EXPECT_EQ(range_->Allocate(Value("fd00::1")), Outcome::kDone);
  EXPECT_EQ(range_->Allocate(Value("fd00::ffff")), Outcome::kDone);
  SaveAndReopen();
  EXPECT_THAT(All(), ElementsAre(Value("fd00::1"), Value("fd00::ffff")));
}

TEST(BitmapAllocatorTest, RefusesABitmapOfAnotherRange) {
  base::SeededRandom random(1);
  const ip::Cidr cidr = ip::ParseCidr("10.0.0.0/24").value();
  const auto loaded = BitmapAllocator::Load(BitmapForm::Of(cidr), LayoutOf(cidr).value(),
                                            {.range = "10.0.0.0/16", .data = ""}, random);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the provided network does not match the current range");
}

TEST(BitmapAllocatorTest, KeepsBitsThatStandForNothing) {
  base::SeededRandom random(1);
  const ip::Cidr cidr = ip::ParseCidr("10.0.0.0/28").value();
  auto loaded = BitmapAllocator::Load(BitmapForm::Of(cidr), LayoutOf(cidr).value(),
                                      {.range = "10.0.0.0/28", .data = "\x01\x00\x01"s}, random);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->Allocate(Value("10.0.0.2")), Outcome::kDone);
  EXPECT_EQ(loaded->Stored().data, "\x01\x00\x03"s);
}

}  // namespace
}  // namespace berth::alloc
