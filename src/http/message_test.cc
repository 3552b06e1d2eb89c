// Tests the small parts: header fields, pieces, targets, dates, gzip.
#include "http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "http/gzip.h"
#include "http/head.h"

namespace berth::http {
namespace {

using testing::ElementsAre;

TEST(Headers, KeepOrderAndLowerNames) {
  Headers headers = {{"Content-Type", "a"}, {"X-Y", "1"}, {"x-y", "2"}};
  EXPECT_EQ(headers.Find("content-type"), "a");
  EXPECT_EQ(headers.Find("x-y"), "1");
  EXPECT_THAT(headers.FindAll("x-y"), ElementsAre("1", "2"));
  EXPECT_FALSE(headers.Find("x"));
  const Headers moved = std::move(headers);
  EXPECT_EQ(moved[2].name, "x-y");
  EXPECT_EQ(moved[2].value, "2");
}

TEST(Headers, CannotBreakOutOfALine) {
  const Headers headers = {{"x\r\ny", std::string_view("a\r\nb\0c", 6)}};
  EXPECT_EQ(headers[0].name, "x--y");
  EXPECT_EQ(headers[0].value, "a  b c");
}

TEST(Pieces, ComeOutAsTheyWentIn) {
  const uint64_t seed = base::TestSeed(4);
  base::SeededRandom random(seed);
  for (int round = 0; round < 200; ++round) {
    Pieces pieces;
    std::string whole;
    const uint64_t count = base::Uniform(random, 10);
    for (uint64_t i = 0; i < count; ++i) {
      std::string text(base::Uniform(random, 20), static_cast<char>('a' + i));
      const size_t offset = base::Uniform(random, 25);
      const size_t length = base::Uniform(random, 25);
      if (i % 2 == 0) {
        whole += text;
        pieces.Add(std::move(text));
      } else {
        if (offset < text.size()) whole += text.substr(offset, length);
        pieces.Add(std::make_shared<const std::string>(text), offset, length);
      }
    }
    EXPECT_EQ(pieces.bytes(), whole.size()) << "seed " << seed;
    EXPECT_EQ(pieces.Flatten(), whole);
    std::string out;
    while (!pieces.empty()) {
      pieces.MoveTo(out, 1 + base::Uniform(random, 7));
      EXPECT_EQ(out + pieces.Flatten(), whole) << "seed " << seed;
    }
    EXPECT_EQ(out, whole);
  }
}

TEST(Pieces, LetGoOfWhatIsUsedUp) {
  const auto shared = std::make_shared<const std::string>("abc");
  Pieces pieces;
  pieces.Add(shared);
  pieces.Add(shared);
  EXPECT_EQ(shared.use_count(), 3);
  std::string out;
  pieces.MoveTo(out, 3);
  EXPECT_EQ(shared.use_count(), 2);
  pieces.MoveTo(out, 3);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Head, SplitsTargets) {
  std::string path;
  std::string query;
  const auto split = [&](std::string_view target) {
    path.clear();
    query.clear();
    return SplitTarget(target, path, query) ? path + "|" + query : "no";
  };
  EXPECT_EQ(split("/"), "/|");
  EXPECT_EQ(split("/a?b?c"), "/a|b?c");
  EXPECT_EQ(split("*"), "*|");
  EXPECT_EQ(split("HTTP://h/a?b"), "/a|b");
  EXPECT_EQ(split("https://h"), "/|");
  EXPECT_EQ(split("https://h?q"), "/|q");
  EXPECT_EQ(split(""), "no");
  EXPECT_EQ(split("a"), "no");
  EXPECT_EQ(split("h:80"), "no");
  EXPECT_EQ(split("/a%2Fb%?c"), "no") << "an escape must be whole";
  EXPECT_EQ(split("/a%2fb?%zz"), "/a%2fb|%zz") << "the query is for who reads it";
}

TEST(Head, WritesDates) {
  DateText date;
  EXPECT_EQ(date.At(base::WallTime(std::chrono::seconds(784'111'777))),
            "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(base::WallTime(std::chrono::seconds(784'111'778))),
            "Sun, 06 Nov 1994 08:49:38 GMT");
}

std::string Gunzip(const std::string& packed, size_t size) {
  z_stream stream{};
  inflateInit2(&stream, 16 + MAX_WBITS);
  std::string out(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, IsReadByOthers) {
  const std::string text = "some text, " + std::string(100'000, 'x') + ", more";
  const std::string packed = Gzip(text);
  EXPECT_LT(packed.size(), text.size() / 10);
  EXPECT_EQ(Gunzip(packed, text.size()), text);
}

TEST(Gzip, IsSentToThoseWhoTakeIt) {
  for (const char* yes : {"gzip", "deflate, gzip", "GZIP;q=0.5", "*", "br;q=1.0, x-gzip"}) {
    EXPECT_TRUE(AcceptsGzip(yes)) << yes;
  }
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "*;q=0", "*, gzip;q=0"}) {
    EXPECT_FALSE(AcceptsGzip(no)) << no;
  }
}

}  // namespace
}  // namespace berth::http
