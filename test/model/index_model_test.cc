// Applies random operations to the index and to the reference model. Every answer must agree. A
// failure names the seed, and BERTH_SEED=<seed> repeats it.
#include "model/index_model.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "alloc/index.h"
#include "allocation/bitmaps/bitmap_layout.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "ip/addr.h"

namespace berth::alloc {
namespace {

/// The forms of the dynamic band that a run must have used.
enum class Form : uint8_t { kBitmap, kHashSets, kBoth };

struct Kind {
  std::string name;
  std::string range;
  RangeOptions options;
  int64_t operations;  ///< In the long form.
  Form form = Form::kBitmap;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.range; }

class IndexModelTest : public testing::TestWithParam<Kind> {
 protected:
  static Layout MakeLayout() {
    const Kind& kind = GetParam();
    if (kind.range.find('/') == std::string::npos) {
      return LayoutOf(ip::ParsePortRange(kind.range).value(), kind.options).value();
    }
    return LayoutOf(ip::ParseCidr(kind.range).value(), kind.options).value();
  }

  /// Returns a value where errors are likely: around the ends, the border of the bands, the
  /// exclusions, and words and blocks of the bitmap. Sometimes it returns any value.
  U128 SomeValue() {
    const Interval span = layout_.span().value();
    std::vector<U128> anchors = {span.first, span.last, span.first + span.Size() / 2};
    if (const auto dynamic = layout_.BandSpan(Band::kDynamic)) anchors.push_back(dynamic->first);
    for (const Interval& part : layout_.excluded()) {
      anchors.push_back(part.first);
      anchors.push_back(part.last);
    }
    if (base::Uniform(random_, 8) == 0) {
      return span.first + base::UniformWide(random_, span.Size());
    }
    const U128 anchor = anchors[base::Uniform(random_, anchors.size())];
    return anchor + base::Uniform(random_, 140) - 70;
  }

  void Step() {
    const U128 value = SomeValue();
    switch (base::Uniform(random_, 10)) {
      case 0:
      case 1:
        EXPECT_EQ(index_.Take(value), model_.Take(value));
        break;
      case 2:
      case 3: {
        const auto any = index_.TakeAny(random_);
        EXPECT_TRUE(model_.MayPick(any));
        if (!any) break;
        EXPECT_EQ(model_.Take(*any), Outcome::kDone);
        break;
      }
      case 4:
      case 5:
        EXPECT_EQ(index_.Release(value), model_.Release(value));
        break;
      case 6:
        EXPECT_EQ(index_.Reserve(value), model_.Reserve(value));
        break;
      default: {
        constexpr std::array kStates = {State::kFree, State::kTaken, State::kReserved,
                                        State::kCooling};
        const State state = kStates[base::Uniform(random_, kStates.size())];
        index_.Put(value, state);
        model_.Put(value, state);
      }
    }
    EXPECT_EQ(index_.Get(value), model_.Get(value));
  }

  /// Releases values, so that the number of held values moves through the whole scale.
  void ReleaseSome() {
    for (const State state : {State::kTaken, State::kReserved, State::kCooling}) {
      for (const U128 value : model_.Held(state)) {
        if (base::Uniform(random_, 4) == 0) continue;
        index_.Put(value, State::kFree);
        model_.Put(value, State::kFree);
      }
    }
  }

  void CompareAll() {
    for (const Band band : {Band::kStatic, Band::kDynamic}) {
      EXPECT_TRUE(index_.Counts(band) == model_.Counts(band));
    }
    for (const State state : {State::kTaken, State::kReserved, State::kCooling}) {
      std::vector<U128> walked;
      index_.ForEach(state, [&](U128 value) { walked.push_back(value); });
      EXPECT_EQ(walked, model_.Held(state));
    }
    const U128 value = SomeValue();
    auto runs = model_.FreeRuns(value, layout_.span());
    const size_t limit = base::Uniform(random_, 20);
    if (runs.size() > limit) runs.resize(limit);
    EXPECT_EQ(index_.FreeRuns(value, limit), runs);
  }

  /// "A range allocation should always be recreatable by observation."
  void CompareRebuilt() {
    LoadedIndex loaded = Index::Load(layout_, model_.Held(State::kTaken));
    EXPECT_TRUE(loaded.out_of_range.empty() && loaded.twice.empty());
    Index& rebuilt = loaded.index;
    for (const U128 value : model_.Held(State::kReserved)) {
      EXPECT_EQ(rebuilt.Reserve(value), Outcome::kDone);
    }
    for (const U128 value : model_.Held(State::kCooling)) {
      rebuilt.Put(value, State::kCooling);
    }
    EXPECT_TRUE(rebuilt.Counts() == index_.Counts());
    EXPECT_EQ(rebuilt.FreeRuns(0, 1000), index_.FreeRuns(0, 1000));
  }

  uint64_t seed_ = base::TestSeed(20261115);
  base::SeededRandom random_{seed_};
  Layout layout_ = MakeLayout();
  Index index_{layout_};
  IndexModel model_{layout_};
  bool seen_bitmap_ = false;
  bool seen_hash_sets_ = false;
};

TEST_P(IndexModelTest, AgreesWithTheModel) {
  const int64_t operations = base::LongCount(GetParam().operations);
  for (int64_t i = 0; i < operations; ++i) {
    Step();
    if (i % 1000 == 999) CompareAll();
    if (i % 20000 == 19999) CompareRebuilt();
    if (i % 5000 == 4999 && base::Uniform(random_, 3) == 0) ReleaseSome();
    (index_.IsBitmap(Band::kDynamic) ? seen_bitmap_ : seen_hash_sets_) = true;
    if (HasFailure()) FAIL() << "at operation " << i << "; repeat with BERTH_SEED=" << seed_;
  }
  CompareAll();
  EXPECT_TRUE(seen_bitmap_ || GetParam().form == Form::kHashSets);
  EXPECT_TRUE(seen_hash_sets_ || GetParam().form == Form::kBitmap);
  std::printf("%s: %lld operations, %zu values held at the end, seed %llu\n",
              GetParam().range.c_str(), static_cast<long long>(operations), model_.size(),
              static_cast<unsigned long long>(seed_));
}

constexpr int64_t kMillion = 1'000'000;

U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

INSTANTIATE_TEST_SUITE_P(
    Kinds, IndexModelTest,
    testing::Values(
        Kind{"Ports", "30000-30599", {}, kMillion},  //
        Kind{"Bitmap", "10.0.0.0/21", {}, kMillion},
        Kind{"StrictBitmap", "10.0.0.0/23", {.static_band = 100, .strict = true}, kMillion},
        Kind{"BitmapWithExclusions",
             "10.0.0.0/22",
             {.excluded = {{Value("10.0.0.0"), Value("10.0.0.9")},
                           {Value("10.0.0.60"), Value("10.0.0.70")},
                           {Value("10.0.2.255"), Value("10.0.2.255")},
                           {Value("10.0.3.200"), Value("10.0.4.0")}}},
             kMillion},
        Kind{"BetweenForms",
             "10.0.0.0/15",
             {.static_band = 40,
              .excluded = {{Value("10.0.0.30"), Value("10.0.0.60")},
                           {Value("10.0.9.0"), Value("10.0.250.255")}}},
             kMillion,
             Form::kBoth},
        Kind{"HashSet64", "fd00::/64", {}, kMillion, Form::kHashSets},
        Kind{"HashSet64WithExclusions",
             "fd00::/64",
             {.excluded = {{Value("fd00::90"), Value("fd00::120")},
                           {Value("fd00::200"), Value("fd00::7fff:ffff:ffff:ffff")},
                           {Value("fd00::ffff:ffff:ffff:fff0"), Value("fd00:0:0:1::")}}},
             kMillion,
             Form::kHashSets},
        Kind{"LittleLeftOfASlash64",
             "fd00::/64",
             {.excluded = {{Value("fd00::400"), Value("fd00::ffff:ffff:ffff:ff00")}}},
             kMillion},
        Kind{"HashSet128", "2001:db8::/48", {}, kMillion, Form::kHashSets},
        Kind{"WholeIpv6", "::/0", {}, kMillion / 10, Form::kHashSets},
        Kind{"WideStaticBand",
             "fd00::/64",
             {.static_band = base::MakeU128(0, ~0ULL) - 100},
             kMillion / 10}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace berth::alloc
