#include "state/time_gaps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace berth::state {
namespace {

std::string Filled(const TextWithGaps& text) {
  std::string out = "> ";
  AppendFilled(out, text.gapped, text.times);
  return out.substr(2);
}

TEST(TimeGaps, TextsThatDifferInTimesLeaveTheSame) {
  const TextWithGaps a =
      TakeTimesOut(R"([{"time":"2026-11-15T17:17:39Z","x":1},{"time":"2026-11-15T17:17:40Z"}])");
  const TextWithGaps b =
      TakeTimesOut(R"([{"time":"1999-01-01T00:00:00Z","x":1},{"time":"0001-99-99T99:99:99Z"}])");
  EXPECT_EQ(a.gapped, b.gapped);
  EXPECT_EQ(a.times, "2026-11-15T17:17:39Z2026-11-15T17:17:40Z");
  EXPECT_EQ(TimesSize(a.gapped), a.times.size());
  EXPECT_EQ(FilledSize(a.gapped), Filled(a).size());
  EXPECT_EQ(Filled({.gapped = a.gapped, .times = b.times}),
            R"([{"time":"1999-01-01T00:00:00Z","x":1},{"time":"0001-99-99T99:99:99Z"}])");
}

TEST(TimeGaps, WhatIsNotExactlyATimeStays) {
  for (const std::string text :
       {"", "Z", "\"time\":\"\"", "\"time\":\"2026-11-15T17:17:39.123456Z\"",
        "\"time\":\"2026-11-15T17:17:39Z", "\"time\":\"2026-11-15 17:17:39Z\"",
        "\"Time\":\"2026-11-15T17:17:39Z\"", "\"time\": \"2026-11-15T17:17:39Z\"",
        "\"time\":\"2026-11-15T17:17:3xZ\"", "26-11-15T17:17:39Z\""}) {
    const TextWithGaps gaps = TakeTimesOut(text);
    EXPECT_EQ(gaps.times, "") << text;
    EXPECT_EQ(Filled(gaps), text);
  }
}

TEST(TimeGaps, WhereTheTimesWereTellsTextsApart) {
  // Without the times, the two texts are equal.
  const TextWithGaps first = TakeTimesOut(R"("time":"2026-11-15T17:17:39Z""time":"")");
  const TextWithGaps second = TakeTimesOut(R"("time":"""time":"2026-11-15T17:17:39Z")");
  EXPECT_EQ(first.times, second.times);
  EXPECT_NE(first.gapped, second.gapped);
}

TEST(TimeGaps, OfVeryManyTimesOnlySomeAreTakenOut) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += R"({"time":"2026-11-15T17:17:39Z"},)";
  const TextWithGaps gaps = TakeTimesOut(text);
  EXPECT_EQ(gaps.times.size(), kMostTimes * kTimeSize);
  EXPECT_EQ(Filled(gaps), text);
}

RC_GTEST_PROP(TimeGaps, AnyTextComesBack, ()) {
  static const std::vector<std::string> pieces = {"\"time\":\"",
                                                  "2026-11-15T17:17:39Z",
                                                  "2026-11-15T17:17:39",
                                                  "Z",
                                                  "\"",
                                                  "\"time\":",
                                                  ",",
                                                  "}",
                                                  "0",
                                                  "-",
                                                  "T",
                                                  ":"};
  std::string text;
  for (const auto& piece :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
    text += piece;
  }
  const TextWithGaps gaps = TakeTimesOut(text);
  RC_ASSERT(Filled(gaps) == text);
  RC_ASSERT(FilledSize(gaps.gapped) == text.size());
  RC_ASSERT(TimesSize(gaps.gapped) == gaps.times.size());
}

}  // namespace
}  // namespace berth::state
