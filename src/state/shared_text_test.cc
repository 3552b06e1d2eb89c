#include "state/shared_text.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace berth::state {
namespace {

TEST(SharedText, EqualTextsAreOneAllocation) {
  const size_t before = SharedText::CountAll();
  {
    const SharedText a("some text");
    const SharedText b(std::string("some ") + "text");
    const SharedText other("some other text");
    EXPECT_EQ(a.Get(), "some text");
    EXPECT_EQ(a.Get().data(), b.Get().data());
    EXPECT_EQ(other.Get(), "some other text");
    EXPECT_EQ(SharedText::CountAll(), before + 2);
    EXPECT_LE(a.ShareOfBytes() * 2, other.ShareOfBytes());
  }
  EXPECT_EQ(SharedText::CountAll(), before);
}

TEST(SharedText, StaysAsLongAsSomebodyUsesIt) {
  const size_t before = SharedText::CountAll();
  auto first = std::make_unique<SharedText>("text");
  auto second = std::make_unique<SharedText>("text");
  first.reset();
  EXPECT_EQ(second->Get(), "text");
  first = std::make_unique<SharedText>("text");
  EXPECT_EQ(first->Get().data(), second->Get().data());
  first.reset();
  second.reset();
  EXPECT_EQ(SharedText::CountAll(), before);
}

TEST(SharedText, EmptyTextIsNone) {
  const size_t before = SharedText::CountAll();
  const SharedText empty("");
  EXPECT_TRUE(empty.IsEmpty());
  EXPECT_EQ(empty.Get(), "");
  EXPECT_EQ(empty.ShareOfBytes(), 0u);
  EXPECT_EQ(SharedText::CountAll(), before);
  EXPECT_FALSE(SharedText(std::string_view("\0", 1)).IsEmpty());
}

TEST(SharedText, ManyTextsComeAndGo) {
  const size_t before = SharedText::CountAll();
  constexpr size_t kTexts = 20000;
  std::deque<SharedText> texts;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kTexts; ++i) texts.emplace_back("text " + std::to_string(i));
  }
  EXPECT_EQ(SharedText::CountAll(), before + kTexts);
  for (size_t i = 0; i < kTexts; ++i) {
    EXPECT_EQ(texts[i].Get(), "text " + std::to_string(i));
    EXPECT_EQ(texts[i].Get().data(), texts[i + kTexts].Get().data());
  }
  while (!texts.empty()) texts.pop_front();
  EXPECT_EQ(SharedText::CountAll(), before);
}

TEST(SharedText, ManyThreads) {
  const size_t before = SharedText::CountAll();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20000; ++i) {
        // There are few texts, so that threads make and free the same ones at the same time.
        const std::string text = "text " + std::to_string(i % 3);
        const SharedText one(text);
        const SharedText two(text);
        EXPECT_EQ(one.Get(), text);
        EXPECT_EQ(one.Get().data(), two.Get().data());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(SharedText::CountAll(), before);
}

}  // namespace
}  // namespace berth::state
