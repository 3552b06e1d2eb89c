// Passes what a follower reports to two sinks, one after the other.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "observe/follower.h"

namespace berth::cli {

class BothSinks final : public observe::ClusterSink {
 public:
  /// Both must outlive this.
  BothSinks(observe::ClusterSink& first, observe::ClusterSink& second)
      : first_(first), second_(second) {}

  void Describe(observe::ClusterOutline outline) override {
    first_.Describe(outline);
    second_.Describe(std::move(outline));
  }
  void GiveRanges(std::vector<inspect::Range> ranges) override {
    first_.GiveRanges(ranges);
    second_.GiveRanges(std::move(ranges));
  }
  void BeginList(observe::WatchedKind kind) override {
    first_.BeginList(kind);
    second_.BeginList(kind);
  }
  void Put(observe::WatchedKind kind, const codec::Value& object) override {
    first_.Put(kind, object);
    second_.Put(kind, object);
  }
  void Remove(observe::WatchedKind kind, const codec::Value& object) override {
    first_.Remove(kind, object);
    second_.Remove(kind, object);
  }
  void EndList(observe::WatchedKind kind, int64_t revision) override {
    first_.EndList(kind, revision);
    second_.EndList(kind, revision);
  }
  void Seen(observe::WatchedKind kind, int64_t revision) override {
    first_.Seen(kind, revision);
    second_.Seen(kind, revision);
  }
  void Late(observe::WatchedKind kind, std::string_view why) override {
    first_.Late(kind, why);
    second_.Late(kind, why);
  }
  void Lost(observe::WatchedKind kind, std::string_view why) override {
    first_.Lost(kind, why);
    second_.Lost(kind, why);
  }

 private:
  observe::ClusterSink& first_;
  observe::ClusterSink& second_;
};

}  // namespace berth::cli
