// The parameters of every document of the page may be any text. An answer is a document of bounded
// size, or an error with a sentence; and a tile tells each of its cells once.
//
// The first line of the input names the document, and the others are its parameters.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/ui/scene.h"
#include "codec/json.h"
#include "codec/read.h"
#include "fuzz/require.h"
#include "inspect/range_shape.h"
#include "inspect/testing/small_cluster.h"
#include "inspect/tile.h"

namespace {

using berth::base::Reason;
using berth::cli::Scene;
using berth::codec::Value;
using Answer = berth::base::Result<Value>;

const Scene& FuzzedScene() {
  static const Scene* const kScene = [] {
    berth::inspect::SmallCluster small;
    small.IpRange(R"({"range": "10.96.0.0/20", "excluded": ["10.96.1.0/24"]})")
        .Range("fd00::/64")
        .Range("::/0")
        .Range("30000-32767")
        .Row(1, 100)
        .Add({.name = "web", .values = {"fd00::1", "30080"}})
        .Record("10.96.0.200", berth::rules::RecordState::kReserved, "shop/later");
    small.view().services[0].labels = "app=web,tier=front";
    return new Scene(small.Finish(), {});
  }();
  return *kScene;
}

std::string KeyAt(std::string_view number) {
  const auto& ranges = FuzzedScene().census().ranges();
  const size_t at = number.empty() ? 0 : static_cast<unsigned char>(number[0]) % ranges.size();
  return berth::inspect::KeyOf(ranges[at]);
}

void CheckTile(const Value& tile) {
  std::vector<int> told(berth::inspect::kTileCells);
  const auto tell = [&](int64_t cell) { ++told.at(static_cast<size_t>(cell)); };
  for (const Value& run : berth::codec::ArrayAt(tile, "runs")) {
    const auto& parts = *run.AsArray();
    for (int64_t i = 0; i < *parts[1].AsInt(); ++i) tell(*parts[0].AsInt() + i);
  }
  for (const Value& cell : berth::codec::ArrayAt(tile, "cells"))
    tell(*(*cell.AsArray())[0].AsInt());
  for (const int count : told) fuzz::Require(count == 1);
}

Answer AnswerTo(const std::vector<std::string>& lines) {
  namespace cli = berth::cli;
  const Scene& scene = FuzzedScene();
  const auto line = [&](size_t i) { return i < lines.size() ? lines[i] : std::string(); };
  const std::string kind = line(0);
  if (kind == "range") return cli::RangeDetailDocument(scene, line(1));
  if (kind == "tile") {
    auto tile = cli::TileDocument(
        scene, {.key = KeyAt(line(1)), .bits = line(2), .index = line(3), .find = line(4)});
    if (tile) CheckTile(*tile);
    return tile;
  }
  if (kind == "table") {
    return cli::TableDocument(scene, {.key = KeyAt(line(1)),
                                      .first = line(2),
                                      .last = line(3),
                                      .find = line(4),
                                      .after = line(5)});
  }
  if (kind == "value") return cli::DetailsDocument(scene, line(1), "");
  if (kind == "service") return cli::DetailsDocument(scene, "", line(1));
  if (kind == "whatif") {
    std::vector<std::string> to;
    for (size_t i = 2; i < lines.size() && i < 6; ++i) to.push_back(lines[i]);
    return cli::WhatIfDocument(scene, KeyAt(line(1)), to);
  }
  return cli::SearchDocument(scene, line(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostBytes = 1000;
  constexpr size_t kMostDocument = size_t{1} << 20;
  if (size > kMostBytes) return 0;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const Answer answer = AnswerTo(lines);
  if (answer) {
    fuzz::Require(berth::codec::WriteJson(*answer).size() < kMostDocument);
  } else {
    const Reason reason = answer.error().reason;
    fuzz::Require(reason == Reason::kInvalid || reason == Reason::kNotFound);
    fuzz::Require(!answer.error().message.empty());
  }
  return 0;
}
