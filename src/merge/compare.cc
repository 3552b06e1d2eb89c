#include "merge/compare.h"

#include <utility>
#include <vector>

#include "merge/compare_walk.h"

namespace berth::merge {
namespace {

// A set under construction that adds the entries on the path to a field only when they are needed.
class LazySet {
 public:
  /// `path` is the current position of the walk.
  void Add(const std::vector<Step>& path, const Step& step) {
    OpenTo(path);
    builder_.Add(step.ToElement());
  }
  void AddHere(const std::vector<Step>& path) {
    OpenTo(path);
    builder_.Mark();
  }

  /// To be called when the walk has returned to this depth.
  void LeaveTo(size_t depth) {
    for (; open_ > depth; --open_) builder_.Close();
  }

  FieldSet Finish() { return builder_.Finish(); }

 private:
  void OpenTo(const std::vector<Step>& path) {
    for (; open_ < path.size(); ++open_) builder_.Open(path[open_].ToElement());
  }

  FieldSetBuilder builder_;
  size_t open_ = 0;
};

class SetSink {
 public:
  void Enter(const Step& step) { path_.push_back(step); }
  void Leave() {
    path_.pop_back();
    changed_.LeaveTo(path_.size());
    removed_.LeaveTo(path_.size());
  }
  void ChangedHere() { changed_.AddHere(path_); }
  void RemovedHere() { removed_.AddHere(path_); }
  void Changed(const Step& step) { changed_.Add(path_, step); }
  void Removed(const Step& step) { removed_.Add(path_, step); }

  Comparison Finish() { return {.changed = changed_.Finish(), .removed = removed_.Finish()}; }

 private:
  std::vector<Step> path_;
  LazySet changed_;
  LazySet removed_;
};

}  // namespace

Comparison Compare(const codec::Value& before, const codec::Value& after,
                   const api::Message& message, const CompareOptions& options) {
  SetSink sink;
  CompareWalk<SetSink>(options, sink).Run(before, after, message);
  return sink.Finish();
}

}  // namespace berth::merge
