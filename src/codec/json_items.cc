#include "codec/json_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/json_marks.h"

namespace berth::codec {
namespace {

using base::Result;

}  // namespace

tl::unexpected<base::Error> JsonItemScanner::Broken(size_t at) const {
  return base::Fail(base::Reason::kBadRequest,
                    fmt::format("not a complete JSON document (at byte {})", passed_ + at));
}

/// Skips blanks between documents, up to a bracket.
Result<void> JsonItemScanner::StartDocument(std::string_view text) {
  at_ = std::min(text.find_first_not_of(" \t\r\n", at_), text.size());
  if (at_ == text.size()) return {};
  if (text[at_] != '{' && text[at_] != '[') return Broken(at_);
  item_depth_ = text[at_] == '[' ? 1 : 0;
  item_ = text[at_] == '[' ? kNone : at_;
  items_key_ = false;
  wanted_ = nullptr;
  list_version_.clear();
  list_kind_.clear();
  depth_ = 1;
  ++at_;
  return {};
}

/// Moves to the end of the string that is open. Returns false if the text ends before it does.
bool JsonItemScanner::SkipString(std::string_view text) {
  const size_t end = EndOfString(text, string_, at_);
  at_ = std::min(end, text.size());
  if (end == std::string_view::npos) return false;
  if (depth_ == 1) NoteString(text.substr(string_, end - string_));
  string_ = kNone;
  return true;
}

/// Looks at a string of the outermost object or array, with its quotes.
void JsonItemScanner::NoteString(std::string_view text) {
  items_key_ = text == R"("items")";
  if (wanted_ != nullptr) {
    // The names of kinds have no escapes.
    this->*wanted_ = text.substr(1, text.size() - 2);
    wanted_ = nullptr;
  } else if (text == R"("kind")") {
    wanted_ = &JsonItemScanner::list_kind_;
  } else if (text == R"("apiVersion")") {
    wanted_ = &JsonItemScanner::list_version_;
  }
}

void JsonItemScanner::Open(char bracket) {
  if (depth_ == 1 && item_depth_ == 0 && items_key_ && bracket == '[') {
    item_depth_ = 2;
    item_ = kNone;
  } else if (depth_ == item_depth_ && item_ == kNone) {
    item_ = at_;
  }
  if (depth_ == 1) {
    items_key_ = false;
    wanted_ = nullptr;
  }
  ++depth_;
  ++at_;
}

void JsonItemScanner::Close(std::string_view text) {
  ++at_;
  --depth_;
  if (item_ != kNone && depth_ == item_depth_) {
    stopped_ = !each_(text.substr(item_, at_ - item_));
    item_ = kNone;
  } else if (item_ == kNone && depth_ + 1 == item_depth_) {
    item_depth_ = kNone;  // The end of the items.
  }
}

Result<size_t> JsonItemScanner::Scan(std::string_view text) {
  while (at_ < text.size() && !stopped_) {
    if (string_ != kNone) {
      SkipString(text);
      continue;
    }
    if (depth_ == 0) {
      if (auto started = StartDocument(text); !started) return tl::unexpected(started.error());
      continue;
    }
    at_ = NextMark(text, at_);
    if (at_ == text.size()) break;
    switch (text[at_]) {
      case '"':
        string_ = at_++;
        break;
      case '{':
      case '[':
        Open(text[at_]);
        break;
      default:
        Close(text);
    }
  }
  const size_t done = std::min({at_, item_, string_});
  passed_ += done;
  at_ -= done;
  if (item_ != kNone) item_ -= done;
  if (string_ != kNone) string_ -= done;
  return done;
}

Result<void> JsonItemScanner::Finish() const {
  if (depth_ > 0 && !stopped_) return Broken(at_);
  return {};
}

Result<void> ForEachJsonItem(std::string_view text, const JsonItemScanner::Each& each) {
  JsonItemScanner scanner(each);
  if (auto done = scanner.Scan(text); !done) return tl::unexpected(done.error());
  return scanner.Finish();
}

}  // namespace berth::codec
