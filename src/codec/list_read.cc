#include "codec/list_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/meta.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/json_marks.h"
#include "codec/proto_wire.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::codec {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

constexpr uint32_t kListMetadata = 1;
constexpr uint32_t kListItems = 2;

tl::unexpected<base::Error> NotAList(std::string_view what) {
  return Fail(Reason::kBadRequest, fmt::format("this is not a list of objects: {}", what));
}

tl::unexpected<base::Error> BadItem(size_t index, std::string_view what) {
  return Fail(Reason::kBadRequest, fmt::format("item {} of the list: {}", index, what));
}

Result<Value> ReadItem(std::string_view text, const api::Message* message) {
  const JsonLimits limits{.bytes = kLargestItem};
  if (message == nullptr) return ParseJson(text, limits);
  auto decoded = DecodeJson(text, *message, {.limits = limits});
  if (!decoded) return tl::unexpected(std::move(decoded.error()));
  return std::move(decoded->object);
}

/// Takes JSON apart at the top. It finds where values end, and leaves their content to others.
class JsonSplitter {
 public:
  explicit JsonSplitter(std::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  /// Skips a character if it comes next.
  bool Take(char wanted) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  /// Returns the text of the next value, or "" if there is no whole value.
  std::string_view TakeValue() {
    SkipSpace();
    const size_t begin = at_;
    if (at_ == text_.size()) return {};
    const char first = text_[at_];
    bool whole = true;
    if (first == '"') {
      whole = SkipString();
    } else if (first == '{' || first == '[') {
      whole = SkipNested();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    return whole ? text_.substr(begin, at_ - begin) : std::string_view();
  }

 private:
  void SkipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool SkipString() {
    const size_t end = EndOfString(text_, at_, at_ + 1);
    at_ = std::min(end, text_.size());
    return end != std::string_view::npos;
  }
  bool SkipNested() {
    size_t depth = 0;
    while ((at_ = NextMark(text_, at_)) < text_.size()) {
      const char mark = text_[at_];
      if (mark == '"') {
        if (!SkipString()) return false;
        continue;
      }
      ++at_;
      if (mark == '{' || mark == '[') {
        ++depth;
      } else if (--depth == 0) {
        return true;
      }
    }
    return false;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

class JsonListReader {
 public:
  JsonListReader(std::string_view text, const api::Message* message, const EachItem& each)
      : splitter_(text), message_(message), each_(each) {}

  Result<ListHead> Read() {
    if (!splitter_.Take('{')) return NotAList("it does not begin with {");
    bool first = true;
    while (!splitter_.Take('}')) {
      if (!std::exchange(first, false) && !splitter_.Take(',')) return NotAList(kBroken);
      const auto key = ParseJson(splitter_.TakeValue());
      if (!key || key->AsString() == nullptr || !splitter_.Take(':')) return NotAList(kBroken);
      if (auto read = ReadMember(*key->AsString()); !read) return tl::unexpected(read.error());
    }
    if (!splitter_.AtEnd()) return NotAList("there is more text after its end");
    if (!has_items_) return NotAList("it has no items");
    return std::move(head_);
  }

 private:
  static constexpr std::string_view kBroken = "its JSON is cut off or broken";

  Result<void> ReadMember(std::string_view key) {
    if (key == "items") return ReadItems();
    const std::string_view text = splitter_.TakeValue();
    if (text.empty()) return NotAList(kBroken);
    if (key != "kind" && key != "apiVersion" && key != "metadata") return {};
    const auto value = ParseJson(text);
    if (!value) return NotAList(value.error().message);
    if (key == "kind") head_.kind = Text(&*value);
    if (key == "apiVersion") head_.api_version = Text(&*value);
    if (key == "metadata") {
      head_.resource_version = StringAt(*value, "resourceVersion");
      head_.continue_token = StringAt(*value, "continue");
    }
    return {};
  }

  Result<void> ReadItems() {
    has_items_ = true;
    if (!splitter_.Take('[')) {  // Go writes null for a list without objects.
      return splitter_.TakeValue() == "null" ? Result<void>() : NotAList("items is not an array");
    }
    if (splitter_.Take(']')) return {};
    do {
      const std::string_view text = splitter_.TakeValue();
      if (text.empty()) return NotAList(kBroken);
      if (text.front() != '{') return BadItem(count_, "it is not an object");
      auto object = ReadItem(text, message_);
      if (!object) return BadItem(count_, object.error().message);
      ++count_;
      each_(*std::move(object));
    } while (splitter_.Take(','));
    return splitter_.Take(']') ? Result<void>() : NotAList(kBroken);
  }

  JsonSplitter splitter_;
  const api::Message* const message_;
  const EachItem& each_;
  ListHead head_;
  size_t count_ = 0;
  bool has_items_ = false;
};

}  // namespace

Result<ListHead> ReadJsonList(std::string_view text, const api::Message* message,
                              const EachItem& each) {
  return JsonListReader(text, message, each).Read();
}

Result<ListHead> ReadProtobufList(std::string_view bytes, const api::Message& message,
                                  const EachItem& each) {
  const auto envelope = DecodeEnvelope(bytes);
  if (!envelope) return tl::unexpected(envelope.error());
  ListHead head{.api_version = std::string(envelope->api_version),
                .kind = std::string(envelope->kind)};
  size_t count = 0;
  ProtoReader reader(envelope->raw);
  ProtoReader::Field part;
  while (reader.Next(part)) {
    if (part.type != WireType::kBytes) continue;
    if (part.number == kListMetadata) {
      const auto meta = DecodeProto(part.content, api::kListMeta);
      if (!meta) return NotAList(meta.error().message);
      head.resource_version = StringAt(*meta, "resourceVersion");
      head.continue_token = StringAt(*meta, "continue");
    } else if (part.number == kListItems) {
      auto object = DecodeProto(part.content, message, {.bytes = kLargestItem});
      if (!object) return BadItem(count, object.error().message);
      ++count;
      each(*std::move(object));
    }
  }
  if (reader.Failed()) return NotAList("its protobuf is cut off or broken");
  return head;
}

}  // namespace berth::codec
