#include <utility>

#include "base/escape.h"
#include "codec/json.h"
#include "codec/scalar.h"
#include "codec/walk.h"

namespace berth::codec {
namespace {

// The visitor of Walk that writes JSON.
class JsonVisitor {
 public:
  explicit JsonVisitor(int indent) : indent_(indent > 0 ? static_cast<size_t>(indent) : 0) {}

  std::string Take() { return std::move(out_); }

  void Scalar(const Value& value) {
    if (const std::string* text = value.AsString()) {
      base::AppendJsonString(out_, *text);
    } else {
      AppendPlainScalar(out_, value);
    }
  }

  void Begin(const Value& container) {
    out_ += container.AsArray() != nullptr ? '[' : '{';
    ++depth_;
  }

  void End(const Value& container) {
    const Array* array = container.AsArray();
    --depth_;
    if (array != nullptr ? !array->empty() : !container.AsObject()->empty()) NewLine();
    out_ += array != nullptr ? ']' : '}';
  }

  void BeforeItem(size_t index) {
    if (index > 0) out_ += ',';
    NewLine();
  }

  void Key(const std::string& key, size_t index) {
    BeforeItem(index);
    base::AppendJsonString(out_, key);
    out_ += indent_ > 0 ? ": " : ":";
  }

 private:
  void NewLine() {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(depth_ * indent_, ' ');
  }

  const size_t indent_;
  size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string WriteJson(const Value& value, JsonStyle style) {
  JsonVisitor visitor(style.indent);
  Walk(value, visitor);
  return visitor.Take();
}

}  // namespace berth::codec
