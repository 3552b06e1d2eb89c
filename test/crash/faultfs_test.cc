// The power-cut tests rely on libfaultfs.so. It must forget unsynced data, keep synced data, and
// fail as requested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/temp_dir.h"
#include "crash/child.h"

namespace crash {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

using Environment = std::map<std::string, std::string>;

using berth::base::TempDir;

constexpr int kCut = 137;
constexpr int kSeeds = 40;  // Enough to see every outcome of a cut many times.

class Faultfs : public ::testing::Test {
 protected:
  /// Runs the probe on an empty directory and returns its exit code.
  int Run(const std::vector<std::string>& steps, const Environment& faults, uint64_t seed = 1) {
    fs::remove_all(data_);
    fs::remove_all(data_ + ".shadow");
    fs::remove_all(data_ + ".state");
    fs::create_directory(data_);
    return RunAgain(steps, faults, seed);
  }

  /// Does the same on the directory as it is.
  int RunAgain(const std::vector<std::string>& steps, Environment faults, uint64_t seed = 1) {
    std::vector<std::string> command = {FAULTFS_PROBE, data_};
    command.insert(command.end(), steps.begin(), steps.end());
    faults["LD_PRELOAD"] = FAULTFS;
    faults["FAULTFS_DIR"] = data_;
    faults["FAULTFS_SEED"] = std::to_string(seed);
    Child probe(command, faults, output_);
    return probe.Wait(std::chrono::seconds(60)).value_or(-1);
  }

  /// Runs up to the cut with many seeds and collects what is left each time.
  template <typename Look>
  std::set<std::string> Outcomes(const std::vector<std::string>& steps, const std::string& cut,
                                 Look look) {
    std::set<std::string> outcomes;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      EXPECT_EQ(Run(steps, {{"FAULTFS_CUT", cut}}, seed), kCut);
      outcomes.insert(look());
    }
    return outcomes;
  }

  std::string Content(const std::string& name) const {
    return fs::exists(data_ + "/" + name) ? ReadFile(data_ + "/" + name) : "(missing)";
  }
  std::string Output() const { return ReadFile(output_); }

  const TempDir directory_{TempDir::Medium::kMemory};
  const std::string data_ = directory_.Path() + "/data";
  const std::string output_ = directory_.Path() + "/output";
};

TEST_F(Faultfs, LeavesAProgramAloneWithoutFaults) {
  EXPECT_EQ(Run({"write:a:one", "append:a:two", "overwrite:a:O", "sync:a", "truncate:a:5",
                 "rename:a:b", "write:c:x", "unlink:c", "mkdir:d", "syncdir:", "show:b", "sync:b"},
                {}),
            0);
  EXPECT_EQ(Output(), "Onetw\n");
  EXPECT_EQ(Content("b"), "Onetw");
  EXPECT_EQ(Content("a"), "(missing)");
  EXPECT_EQ(Content("c"), "(missing)");
}

TEST_F(Faultfs, WhatWasSyncedStaysAndTheRestGoesInOrder) {
  const auto left = Outcomes(
      {"write:a:1111", "sync:a", "syncdir:", "write:a:2222", "write:a:3333", "write:a:4444"},
      "change:5:before", [this] { return Content("a"); });
  for (const std::string& content : left) {
    // A later write never survives without the earlier one.
    EXPECT_TRUE(std::string("111122223333").starts_with(content)) << content;
    EXPECT_THAT(content, StartsWith("1111"));
  }
  EXPECT_TRUE(left.contains("1111"));
  EXPECT_TRUE(left.contains("11112222"));
  EXPECT_TRUE(left.contains("111122223333"));
  EXPECT_TRUE(left.contains("11112222333")) << "torn";
}

TEST_F(Faultfs, LogsMayEndInZeroesOrGarbage) {
  const std::string written(2000, 'n');
  const auto left = Outcomes(
      {"write:a.log:1111", "sync:a.log", "syncdir:", "write:a.log:" + written, "write:b:x"},
      "change:4:before", [this] { return Content("a.log"); });
  bool zeroes = false;
  bool garbage = false;
  bool hole = false;
  for (const std::string& content : left) {
    EXPECT_THAT(content, StartsWith("1111"));
    zeroes = zeroes || (content.size() > 5 && content.back() == '\0');
    garbage =
        garbage || content.substr(4).find_first_not_of(std::string("n\0", 2)) != std::string::npos;
    hole = hole || (content.back() == 'n' && content.find('\0') != std::string::npos);
  }
  EXPECT_TRUE(zeroes && garbage && hole) << zeroes << garbage << hole;
}

TEST_F(Faultfs, ASyncCountsOnlyOnceItIsDone) {
  const std::vector<std::string> steps = {"write:a:1111", "syncdir:", "sync:a", "write:a:2222"};
  const auto look = [this] { return Content("a"); };
  EXPECT_TRUE(Outcomes(steps, "sync:2:before", look).contains(""));
  EXPECT_EQ(Outcomes(steps, "sync:2:after", look), std::set<std::string>{"1111"});
}

TEST_F(Faultfs, WritesThatSyncThemselvesStay) {
  EXPECT_EQ(Outcomes({"write:a:", "syncdir:", "dsync:a:1111", "write:b:x"}, "change:4:before",
                     [this] { return Content("a"); }),
            std::set<std::string>{"1111"});
}

TEST_F(Faultfs, NamesAreDurableByTheirDirectory) {
  const auto look = [this] { return Content("a"); };
  const auto loose = Outcomes({"write:a:1111", "sync:a", "write:b:x"}, "change:3:before", look);
  EXPECT_EQ(loose, (std::set<std::string>{"1111", "(missing)"}));
  const auto firm =
      Outcomes({"write:a:1111", "sync:a", "syncdir:", "write:b:x"}, "change:3:before", look);
  EXPECT_EQ(firm, std::set<std::string>{"1111"});
}

TEST_F(Faultfs, DeletedFilesComeBack) {
  const auto look = [this] { return Content("a"); };
  const std::vector<std::string> made = {"write:a:1111", "sync:a", "syncdir:", "unlink:a"};
  auto steps = made;
  steps.insert(steps.end(), {"mkdir:d"});
  EXPECT_EQ(Outcomes(steps, "change:4:before", look), (std::set<std::string>{"1111", "(missing)"}));
  steps = made;
  steps.insert(steps.end(), {"syncdir:", "mkdir:d"});
  EXPECT_EQ(Outcomes(steps, "change:4:before", look), std::set<std::string>{"(missing)"});
}

TEST_F(Faultfs, ARenameHappensOrNot) {
  const auto look = [this] { return Content("current") + " " + Content("new"); };
  const std::vector<std::string> steps = {
      "write:current:old", "sync:current",       "write:new:new", "sync:new",
      "syncdir:",          "rename:new:current", "mkdir:d"};
  EXPECT_EQ(Outcomes(steps, "change:6:before", look),
            (std::set<std::string>{"old new", "new (missing)"}));
}

TEST_F(Faultfs, TruncationsAreTakenBack) {
  const auto look = [this] { return Content("a"); };
  EXPECT_EQ(Outcomes({"write:a:123456", "sync:a", "syncdir:", "truncate:a:2", "mkdir:d"},
                     "change:4:before", look),
            (std::set<std::string>{"123456", "12"}));
  const auto remade = Outcomes({"write:a:123456", "sync:a", "syncdir:", "remake:a:x", "mkdir:d"},
                               "change:5:before", look);
  EXPECT_EQ(remade, (std::set<std::string>{"123456", "", "x"}));
  const auto over = Outcomes({"write:a:123456", "sync:a", "syncdir:", "overwrite:a:xx", "mkdir:d"},
                             "change:4:before", look);
  EXPECT_TRUE(over.contains("123456") && over.contains("xx3456"));
}

TEST_F(Faultfs, WhatAFailedSyncLeftIsReadableAndNeverDurable) {
  const std::vector<std::string> steps = {
      "write:a.log:1111", "sync:a.log", "syncdir:",         "write:a.log:2222", "sync:a.log",
      "show:a.log",       "sync:a.log", "write:a.log:3333", "sync:a.log",       "mkdir:d"};
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(
        Run(steps, {{"FAULTFS_FAIL_LOG_SYNC", "2"}, {"FAULTFS_CUT", "change:5:before"}}, seed),
        kCut);
    EXPECT_EQ(Output(), "sync: errno " + std::to_string(EIO) + "\n11112222\n");
    EXPECT_EQ(Content("a.log"), std::string("1111\0\0\0\0003333", 12));
  }
}

TEST_F(Faultfs, AnySyncMayFail) {
  EXPECT_EQ(Run({"write:a:1111", "sync:a", "syncdir:", "sync:a"}, {{"FAULTFS_FAIL_SYNC", "1,2"}}),
            0);
  const std::string failed = std::to_string(EIO);
  EXPECT_EQ(Output(), "sync: errno " + failed + "\nsyncdir: errno " + failed + "\n");
}

TEST_F(Faultfs, APowerCutTakesBackWhatAKilledProgramDidNotSync) {
  std::set<std::string> left;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_EQ(Run({"write:a:1111", "sync:a", "write:gone:x", "syncdir:", "write:a:2222",
                   "unlink:gone", "write:b:y"},
                  {{"FAULTFS_CUT", "change:7:before:kill"}}, seed),
              kCut);
    EXPECT_EQ(Content("a"), "11112222") << "a kill alone loses nothing";
    EXPECT_EQ(Content("gone"), "(missing)");
    ASSERT_EQ(
        RunAgain({"show:a", "write:a:3333", "mkdir:d"}, {{"FAULTFS_CUT", "change:2:before"}}, seed),
        kCut);
    EXPECT_EQ(Output(), "11112222\n");
    left.insert(Content("a") + " " + Content("gone"));
  }
  EXPECT_TRUE(left.contains("1111 x") || left.contains("1111 ")) << "all is lost";
  EXPECT_TRUE(left.contains("11112222 (missing)")) << "what the first did is kept";
  EXPECT_TRUE(left.contains("111122223333 (missing)"));
  for (const std::string& content : left) EXPECT_THAT(content, StartsWith("1111"));
}

TEST_F(Faultfs, LikewiseWhenItEndedByItself) {
  std::set<std::string> left;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ASSERT_EQ(Run({"write:a:1111", "syncdir:"}, {}, seed), 0);
    ASSERT_EQ(RunAgain({"show:a", "mkdir:d"}, {{"FAULTFS_CUT", "change:1:before"}}, seed), kCut);
    EXPECT_EQ(Output(), "1111\n");
    left.insert(Content("a"));
  }
  EXPECT_TRUE(left.contains("") && left.contains("1111"));
}

TEST_F(Faultfs, WhatTheNextProgramSyncsOfAKilledOneStays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ASSERT_EQ(Run({"write:a:1111", "syncdir:", "mkdir:d"},
                  {{"FAULTFS_CUT", "change:3:before:kill"}}, seed),
              kCut);
    ASSERT_EQ(RunAgain({"sync:a", "mkdir:e"}, {{"FAULTFS_CUT", "change:1:before"}}, seed), kCut);
    EXPECT_EQ(Content("a"), "1111");
  }
}

TEST_F(Faultfs, AFullDiskRefusesUntilThereIsSpace) {
  EXPECT_EQ(Run({"write:a:1111", "write:a:2222", "write:a:3333", "write:a:4444", "show:a"},
                {{"FAULTFS_ENOSPC_AFTER", "6,2"}}),
            0);
  EXPECT_EQ(Output(),
            "write: short write of 2\nwrite: errno " + std::to_string(ENOSPC) + "\n1111224444\n");
}

}  // namespace
}  // namespace crash
