#include "merge/new_fields.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "codec/encode.h"
#include "merge/compare_walk.h"

namespace berth::merge {
namespace {

/// Most texts are shorter.
constexpr size_t kUsualBytes = 640;

// Writes new fields as they come, and the path to a field only when it is needed.
class TextSink {
 public:
  TextSink() {
    text_.reserve(kUsualBytes);
    text_ += '{';
    levels_.reserve(8);
  }

  void Enter(const Step& step) { levels_.push_back({.step = step}); }
  void Leave() {
    if (open_ == levels_.size()) {
      text_ += '}';
      --open_;
    }
    levels_.pop_back();
  }
  void ChangedHere() {
    OpenAll();
    levels_.back().member = true;
  }
  void Changed(const Step& step) {
    if (IsUnowned(step)) return;
    OpenAll();
    Key(step);
    text_ += '}';
  }
  // An empty object has nothing to remove.
  void RemovedHere() {}
  void Removed(const Step&) {}

  std::string Finish() {
    if (text_.size() == 1) return {};
    text_ += '}';
    return std::move(text_);
  }

 private:
  struct Level {
    Step step;
    bool member = false;  // The level itself; written before its contents.
  };

  bool IsUnowned(const Step& step) const {
    return levels_.size() == 1 && levels_.front().step.name == "metadata" &&
           std::find(std::begin(kUnownedMetadata), std::end(kUnownedMetadata), step.name) !=
               std::end(kUnownedMetadata);
  }

  void OpenAll() {
    for (; open_ < levels_.size(); ++open_) Key(levels_[open_].step);
  }

  // Writes a key with the brace that opens its contents.
  void Key(const Step& step) {
    if (text_.back() != '{') {
      text_ += ',';
    } else if (open_ > 0 && levels_[open_ - 1].member) {
      text_ += R"(".":{},)";
    }
    if (step.from_table) {
      text_ += "\"f:";
      text_ += step.name;
      text_ += "\":{";
      return;
    }
    element_.clear();
    if (step.element == nullptr) {
      element_ += "f:";
      element_ += step.name;
    } else {
      step.element->AppendTo(element_);
    }
    codec::AppendGoJsonString(text_, element_);
    text_ += ":{";
  }

  std::string text_;
  std::string element_;
  std::vector<Level> levels_;
  size_t open_ = 0;  // How many levels have their brace in the text.
};

}  // namespace

std::string FieldsOfNewObject(const codec::Value& object, const api::Message& message,
                              std::span<const std::string_view> skip) {
  static const codec::Value empty = codec::Object();
  TextSink sink;
  CompareWalk<TextSink>({.skip = skip}, sink).Run(empty, object, message);
  return sink.Finish();
}

}  // namespace berth::merge
