#include "history/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/temp_dir.h"
#include "codec/timestamp.h"
#include "history/history_reader.h"

namespace berth::history {
namespace {

using alloc::PoolId;
using alloc::PoolValue;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr PoolValue kAddress{.pool = PoolId::kIpv4, .value = 0x0a60000a};
constexpr PoolValue kPort{.pool = PoolId::kPorts, .value = 30080};
const PoolValue kLong{.pool = PoolId::kIpv6, .value = base::MakeU128(0xfd00'0010'0096'0000, 0xa)};

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() {
    options_.directory = dir_.Path() + "/history";
    clock_.Advance(codec::ParseTime("2026-01-02T03:00:00Z")->time_since_epoch());
    Reopen();
  }

  void Reopen() {
    history_.reset();
    auto opened = History::Open(options_, clock_, log_);
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = *std::move(opened);
  }

  /// Ends the history as a kill does: nothing more is written.
  void Kill() {
    const std::string copy = dir_.Path() + "/copy";
    std::filesystem::copy(options_.directory, copy, std::filesystem::copy_options::recursive);
    history_.reset();
    std::filesystem::remove_all(options_.directory);
    std::filesystem::rename(copy, options_.directory);
  }

  static ServiceState Web(const std::vector<PoolValue>& values, const std::string& uid = "1") {
    ServiceState state{.owner = {.name_space = "shop", .name = "web", .uid = uid}};
    for (const PoolValue& value : values) {
      const bool port = value.pool == PoolId::kPorts;
      state.holds.push_back({.value = value,
                             .origin = inspect::Origin::kDrawn,
                             .purpose = port ? Purpose::kNodePort : Purpose::kAddress});
    }
    return state;
  }

  void List(const std::vector<ServiceState>& services, int64_t revision = 0) {
    history_->BeginList();
    for (const ServiceState& service : services) history_->Put(service);
    history_->EndList(revision);
  }

  HistoryReader Reader() {
    EXPECT_TRUE(history_->Flush());
    return HistoryReader::Open(options_.directory).value();
  }

  static std::string Text(const Moment& moment) {
    const auto clock = [](base::WallTime time) { return codec::FormatTime(time).substr(11, 8); };
    if (moment.IsExact()) return clock(moment.latest);
    return (moment.earliest ? clock(*moment.earliest) : "?") + "~" + clock(moment.latest);
  }

  /// Returns "shop/web(1) 03:00:00-03:01:00" for each span.
  std::vector<std::string> Spans(const PoolValue& value) {
    std::vector<std::string> texts;
    const auto past = Reader().HistoryOf(value);
    for (const Span& span : past->spans) texts.push_back(Text(span));
    return texts;
  }
  static std::string Text(const Span& span) {
    return fmt::format("{}/{}({}) {}-{}", span.owner.name_space, span.owner.name, span.owner.uid,
                       Text(span.from), span.to ? Text(*span.to) : "");
  }

  /// Returns "shop/web certain", and the note if the answer is not complete.
  std::vector<std::string> At(const PoolValue& value, const std::string& time) {
    const auto held = Reader().WhoHeld(value, *codec::ParseTime("2026-01-02T" + time + "Z"));
    std::vector<std::string> texts;
    for (const Holding& holding : held->holdings) {
      constexpr std::array kWords = {"certain", "before and after", "possible"};
      texts.push_back(holding.span.owner.name + " " +
                      kWords[static_cast<size_t>(holding.certainty)]);
    }
    if (!held->complete) texts.push_back("(" + held->note + ")");
    return texts;
  }

  std::string LastSegment() { return ListSegments(options_.directory)->back().path; }

  const base::TempDir dir_{base::TempDir::Medium::kMemory};
  base::ManualClock clock_;
  std::vector<std::string> lines_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
  HistoryOptions options_;
  std::unique_ptr<History> history_;
};

TEST_F(HistoryTest, ChangesThatAreSeenAreExact) {
  List({});
  clock_.Advance(minutes(1));
  history_->Put(Web({kAddress, kPort, kLong}));
  clock_.Advance(minutes(1));
  history_->Put(Web({kAddress, kLong}));
  clock_.Advance(minutes(1));
  history_->Put(Web({kAddress}, "2"));
  clock_.Advance(minutes(1));
  history_->Remove("shop", "web", 7);
  EXPECT_THAT(Spans(kAddress),
              ElementsAre("shop/web(1) 03:01:00-03:03:00", "shop/web(2) 03:03:00-03:04:00"));
  EXPECT_THAT(Spans(kPort), ElementsAre("shop/web(1) 03:01:00-03:02:00"));
  EXPECT_THAT(Spans(kLong), ElementsAre("shop/web(1) 03:01:00-03:03:00"));
  EXPECT_THAT(At(kAddress, "03:00:30"), IsEmpty());
  EXPECT_THAT(At(kAddress, "03:01:00"), ElementsAre("web certain"));
  EXPECT_THAT(At(kAddress, "03:04:00"), IsEmpty());
  EXPECT_THAT(At(kAddress, "02:00:00"),
              ElementsAre("(the history begins at 2026-01-02T03:00:00Z)"));
  EXPECT_THAT(At(kAddress, "09:00:00"),
              ElementsAre("(the cluster was last seen at 2026-01-02T03:04:00Z)"));
  const auto past = Reader().HistoryOfService("shop", "web");
  EXPECT_EQ(past->spans.size(), 4U);
  EXPECT_THAT(past->gaps, IsEmpty());
  EXPECT_EQ(past->spans[0].held.origin, inspect::Origin::kDrawn);
}

TEST_F(HistoryTest, AListAfterARestartSaysBetweenWhichTimesThingsChanged) {
  List({Web({kAddress})});
  clock_.Advance(minutes(1));
  history_->Seen(5);
  clock_.Advance(minutes(1));
  Reopen();
  clock_.Advance(hours(1));
  ServiceState other = Web({kAddress});
  other.owner = {.name_space = "shop", .name = "api", .uid = "9"};
  other.created = *codec::ParseTime("2026-01-02T04:00:00Z");
  List({other});
  EXPECT_THAT(Spans(kAddress), ElementsAre("shop/web(1) ?~03:00:00-03:01:00~04:02:00",
                                           "shop/api(9) 04:00:00~04:02:00-"));
  const std::string gap =
      "(from 2026-01-02T03:01:00Z to 2026-01-02T04:02:00Z the observer did not follow the "
      "cluster, so values may have changed hands unseen)";
  EXPECT_THAT(At(kAddress, "03:00:30"), ElementsAre("web certain"));
  EXPECT_THAT(At(kAddress, "03:30:00"), ElementsAre("web possible", gap));
  EXPECT_THAT(At(kAddress, "04:01:00"), ElementsAre("web possible", "api possible", gap));
  EXPECT_THAT(At(kAddress, "04:02:00"), ElementsAre("api certain"));
  EXPECT_THAT(At(kPort, "03:30:00"), ElementsAre(gap));
}

TEST_F(HistoryTest, AValueHeldBeforeAndAfterAGapSaysSo) {
  List({Web({kAddress})});
  history_->Lost();
  clock_.Advance(minutes(10));
  List({Web({kAddress})});
  EXPECT_THAT(At(kAddress, "03:05:00"),
              ElementsAre("web before and after", HasSubstr("did not follow the cluster")));
}

TEST_F(HistoryTest, TwoServicesMayHoldOneValue) {
  ServiceState other = Web({kAddress});
  other.owner.name = "twin";
  List({Web({kAddress}), other});
  clock_.Advance(minutes(1));
  history_->Remove("shop", "web", 0);
  EXPECT_THAT(At(kAddress, "03:00:00"),
              testing::UnorderedElementsAre("twin certain", "web certain"));
  EXPECT_THAT(At(kAddress, "03:01:00"), ElementsAre("twin certain"));
}

TEST_F(HistoryTest, ASecondWriterIsRefused) {
  const auto second = History::Open(options_, clock_, log_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, base::Reason::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("another observer records into"));
}

TEST_F(HistoryTest, AFolderWithoutAHistoryIsNotFound) {
  const auto reader = HistoryReader::Open(dir_.Path());
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("there is no history here"));
}

/// Cuts the file at every byte after the first list. Whatever is left, the history opens, and what
/// it says is true.
TEST_F(HistoryTest, ATornTailIsCutAtEveryByte) {
  List({Web({kAddress})});
  ASSERT_TRUE(history_->Sync());
  const auto whole_list = std::filesystem::file_size(LastSegment());
  clock_.Advance(minutes(1));
  history_->Put(Web({kAddress, kPort}));
  ASSERT_TRUE(history_->Flush());
  clock_.Advance(minutes(1));
  history_->Put(Web({kPort}));
  ASSERT_TRUE(history_->Flush());
  Kill();
  std::ifstream in(LastSegment(), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  clock_.Advance(minutes(1));
  for (size_t size = whole_list; size <= all.size(); ++size) {
    std::ofstream(LastSegment(), std::ios::binary | std::ios::trunc) << all.substr(0, size);
    Reopen();
    EXPECT_THAT(At(kAddress, "03:00:00"), ElementsAre("web certain"));
    List({Web({kPort})});
    const auto port = At(kPort, "03:03:00");
    const auto address = At(kAddress, "03:03:00");
    EXPECT_THAT(port, ElementsAre("web certain")) << size;
    EXPECT_THAT(address, IsEmpty()) << size;
    // The release was seen at 03:02. Without its entry, it is known to have been before 03:03.
    const bool lost =
        At(kAddress, "03:02:30") != std::vector<std::string>{At(kAddress, "03:02:30").back()};
    EXPECT_EQ(lost, size < all.size()) << size;
    history_.reset();
  }
}

TEST_F(HistoryTest, ADamagedSegmentIsAGapThatAnswersName) {
  options_.segment_bytes = 1;  // Every change ends a segment that is larger than its checkpoint.
  Reopen();
  List({});
  for (int i = 0; i < 50; ++i) {
    clock_.Advance(minutes(1));
    history_->Put(Web({kAddress}, fmt::format("{}", i)));
  }
  ASSERT_TRUE(history_->Flush());
  const auto files = ListSegments(options_.directory).value();
  ASSERT_GT(files.size(), 3U);
  // Damages the last byte of a segment in the middle, which belongs to its last block.
  const SegmentFile& damaged = files[files.size() - 3];
  std::fstream file(damaged.path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(damaged.bytes) - 1);
  file.put('\x55');
  file.close();
  const auto past = Reader().HistoryOf(kAddress);
  ASSERT_EQ(past->gaps.size(), 1U);
  EXPECT_THAT(past->gaps[0].why, HasSubstr(" is damaged"));
  EXPECT_EQ(past->spans.back().owner.uid, "49");
  EXPECT_FALSE(past->spans.back().to);
  const auto middle = past->gaps[0].from + (past->gaps[0].to - past->gaps[0].from) / 2;
  EXPECT_FALSE(Reader().WhoHeld(kAddress, middle)->complete);
}

TEST_F(HistoryTest, OldSegmentsAreDroppedButWhatIsHeldIsKept) {
  options_.keep = hours(10);
  Reopen();
  List({Web({kAddress})});
  for (int hour = 0; hour < 40; ++hour) {
    clock_.Advance(hours(1));
    ServiceState other = Web({kPort}, fmt::format("{}", hour));
    other.owner.name = "other";
    history_->Put(other);
    history_->Tick();
  }
  const auto past = Reader().HistoryOf(kPort);
  EXPECT_GT(*past->begin, clock_.Now() - hours(14));
  EXPECT_LT(*past->begin, clock_.Now() - hours(9));
  EXPECT_LT(past->spans.size(), 16U);
  // The address was taken long before the oldest segment began.
  EXPECT_THAT(Spans(kAddress), ElementsAre("shop/web(1) ?~03:00:00-"));
}

TEST_F(HistoryTest, BytesAreBounded) {
  options_.keep_bytes = 64 << 10;
  options_.segment_bytes = 8 << 10;
  Reopen();
  List({});
  for (int i = 0; i < 20'000; ++i) {
    clock_.Advance(milliseconds(10));
    history_->Put(Web({kAddress}, fmt::format("{}", i)));
    if (i % 100 == 0) history_->Tick();
  }
  uint64_t bytes = 0;
  const auto files = ListSegments(options_.directory);
  for (const SegmentFile& file : files.value()) bytes += file.bytes;
  EXPECT_LE(bytes, options_.keep_bytes);
  EXPECT_GT(bytes, options_.keep_bytes / 2);
  EXPECT_LE(history_->stats().bytes, options_.keep_bytes);
  EXPECT_EQ(Reader().HistoryOf(kAddress)->spans.back().owner.uid, "19999");
}

TEST_F(HistoryTest, AFullDiskIsAGapAndNotAMixUp) {
  List({Web({kAddress})});
  ASSERT_TRUE(history_->Flush());
  // Without the folder no new segment can begin, as on a disk that is full.
  const std::string moved = dir_.Path() + "/moved";
  options_.segment_bytes = 1;
  Reopen();
  List({Web({kAddress})});
  std::filesystem::rename(options_.directory, moved);
  clock_.Advance(minutes(1));
  history_->Put(Web({kAddress}, "2"));  // The segment is large enough to end here.
  history_->Tick();
  EXPECT_FALSE(history_->Sync());
  clock_.Advance(minutes(1));
  history_->Put(Web({kPort}, "3"));
  std::filesystem::rename(moved, options_.directory);
  clock_.Advance(minutes(1));
  history_->Seen(0);
  history_->Tick();
  EXPECT_TRUE(history_->Sync());
  EXPECT_THAT(At(kPort, "03:03:00"), ElementsAre("web certain"));
  EXPECT_THAT(At(kAddress, "03:03:00"), IsEmpty());
  EXPECT_THAT(Spans(kPort), ElementsAre("shop/web(3) 03:02:00-"));
}

TEST_F(HistoryTest, UsePointsCountValues) {
  List({});
  const base::WallTime start = clock_.Now();
  for (unsigned i = 0; i < 6; ++i) {
    ServiceState state = Web({{.pool = PoolId::kIpv4, .value = 100 + i}});
    state.owner.name = fmt::format("s{}", i);
    history_->Put(state);
    clock_.Advance(minutes(1));
  }
  history_->Seen(0);
  history_->Lost();
  clock_.Advance(minutes(2));
  List({});
  const auto points = Reader().UsePoints(PoolId::kIpv4, {.first = 101, .last = 200},
                                         start - minutes(1), clock_.Now(), minutes(1));
  std::vector<std::string> texts;
  for (const UsePoint& point : *points) {
    texts.push_back(point.held ? std::to_string(*point.held) : "?");
  }
  EXPECT_THAT(texts, ElementsAre("?", "0", "1", "2", "3", "4", "5", "5", "?", "0"));
}

// What `berth observe --once` records from cron: every moment but those of the looks is in a gap.
TEST_F(HistoryTest, UseAtLooksHasALookForEveryStep) {
  const base::WallTime start = clock_.Now();
  std::vector<ServiceState> all;
  for (unsigned i = 0; i < 8; ++i) {
    ServiceState state = Web({{.pool = PoolId::kIpv4, .value = 100 + i}});
    state.owner.name = fmt::format("s{}", i);
    all.push_back(state);
    List(all);
    history_->Lost();
    clock_.Advance(hours(6));
  }
  const auto texts = [&](const base::Result<std::vector<UsePoint>>& points) {
    std::vector<std::string> out;
    for (const UsePoint& point : points.value()) {
      out.push_back(fmt::format("{}h {}",
                                std::chrono::duration_cast<hours>(point.time - start).count(),
                                point.held ? std::to_string(*point.held) : "?"));
    }
    return out;
  };
  const alloc::Interval values{.first = 100, .last = 200};
  const base::WallTime from = start - hours(23);
  EXPECT_THAT(texts(Reader().UsePoints(PoolId::kIpv4, values, from, clock_.Now(), hours(24))),
              ElementsAre("-23h ?", "1h ?", "25h ?"));
  EXPECT_THAT(texts(Reader().UseAtLooks(PoolId::kIpv4, values, from, clock_.Now(), hours(24))),
              ElementsAre("0h 1", "24h 5", "42h 8"));
  // A later segment begins with what is held, which is no change.
  Reopen();
  List(all);
  EXPECT_THAT(texts(Reader().UseAtLooks(PoolId::kIpv4, values, from, clock_.Now(), hours(24))),
              ElementsAre("0h 1", "24h 5", "48h 8"));
}

TEST_F(HistoryTest, CountsAreKept) {
  List({});
  history_->Count({{.range = "10.96.0.0/24", .taken = 5, .withheld = 1, .usable = 254}});
  clock_.Advance(hours(1));
  history_->Count({{.range = "10.96.0.0/24", .taken = 7, .withheld = 1, .usable = 254},
                   {.range = "30000-32767", .taken = 1, .usable = 2768}});
  const auto points =
      Reader().CountsOf("10.96.0.0/24", clock_.Now() - hours(5), clock_.Now()).value();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].count.taken, 7U);
  EXPECT_EQ(points[1].time - points[0].time, hours(1));
}

}  // namespace
}  // namespace berth::history
