#include <yaml.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "codec/scalar.h"
#include "codec/walk.h"
#include "codec/yaml.h"
#include "codec/yaml_resolve.h"

namespace berth::codec {
namespace {

constexpr int kImplicit = 1;
constexpr int kWidth = 80;  // The width at which kubectl and the API server fold lines.

// Returns whether a text has line breaks of YAML 1.1 that are not line breaks in 1.2. In a literal
// block, only parsers of 1.1 would remove the indentation after them.
bool HasUnicodeBreak(std::string_view text) {
  return text.find("\u2028") != std::string_view::npos ||
         text.find("\u2029") != std::string_view::npos;
}

// Chooses the style. libyaml itself falls back to single or double quotes if the chosen
// style cannot represent the text. It knows the punctuation of YAML, but not what parsers
// read a scalar as.
yaml_scalar_style_t StyleOf(std::string_view text) {
  if (HasUnicodeBreak(text) || IsTakenForNonString(text)) return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  if (text.find('\n') != std::string_view::npos) return YAML_LITERAL_SCALAR_STYLE;
  return YAML_PLAIN_SCALAR_STYLE;
}

// libyaml's emitter, writing to a string. It can only fail for lack of memory, since it never gets
// a wrong order of events or ill-formed UTF-8. Then std::bad_alloc is thrown, as by every other
// function that makes strings.
class Emitter {
 public:
  Emitter() {
    if (yaml_emitter_initialize(&emitter_) == 0) throw std::bad_alloc();
    yaml_emitter_set_output(&emitter_, &Emitter::Take, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, kWidth);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void BeginDocument() {
    yaml_event_t event;
    Emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    Emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, kImplicit));
  }

  std::string EndDocument() {
    yaml_event_t event;
    Emit(event, yaml_document_end_event_initialize(&event, kImplicit));
    Emit(event, yaml_stream_end_event_initialize(&event));
    return std::move(out_);
  }

  void BeginSequence() {
    yaml_event_t event;
    Emit(event, yaml_sequence_start_event_initialize(&event, nullptr, nullptr, kImplicit,
                                                     YAML_BLOCK_SEQUENCE_STYLE));
  }

  void EndSequence() {
    yaml_event_t event;
    Emit(event, yaml_sequence_end_event_initialize(&event));
  }

  void BeginMapping() {
    yaml_event_t event;
    Emit(event, yaml_mapping_start_event_initialize(&event, nullptr, nullptr, kImplicit,
                                                    YAML_BLOCK_MAPPING_STYLE));
  }

  void EndMapping() {
    yaml_event_t event;
    Emit(event, yaml_mapping_end_event_initialize(&event));
  }

  void String(const std::string& text) {
    const std::string valid = base::ToValidUtf8(text);
    Scalar(valid, StyleOf(valid));
  }

  void Scalar(const std::string& text, yaml_scalar_style_t style) {
    yaml_event_t event;
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
    Emit(event,
         yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                      static_cast<int>(text.size()), kImplicit, kImplicit, style));
  }

 private:
  // Called from C code, which exceptions must not cross.
  static int Take(void* out, unsigned char* bytes, size_t size) {
    try {
      static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
      return 1;
    } catch (const std::exception&) {
      return 0;
    }
  }

  // The emitter owns the event from here on, even if it fails.
  void Emit(yaml_event_t& event, int initialized) {
    if (initialized == 0 || yaml_emitter_emit(&emitter_, &event) == 0) throw std::bad_alloc();
  }

  yaml_emitter_t emitter_;
  std::string out_;
};

// The visitor of Walk that writes YAML.
class YamlVisitor {
 public:
  YamlVisitor() { emitter_.BeginDocument(); }

  std::string Take() { return emitter_.EndDocument(); }

  void Scalar(const Value& value) {
    if (const std::string* text = value.AsString()) {
      emitter_.String(*text);
    } else {
      std::string plain;
      AppendPlainScalar(plain, value);
      emitter_.Scalar(plain, YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void Begin(const Value& container) {
    if (container.AsArray() != nullptr) {
      emitter_.BeginSequence();
    } else {
      emitter_.BeginMapping();
    }
  }

  void End(const Value& container) {
    if (container.AsArray() != nullptr) {
      emitter_.EndSequence();
    } else {
      emitter_.EndMapping();
    }
  }

  void BeforeItem(size_t) {}
  void Key(const std::string& key, size_t) { emitter_.String(key); }

 private:
  Emitter emitter_;
};

// Returns a copy in which the members of every object are sorted by key.
Value Sorted(const Value& value) {
  if (const Array* items = value.AsArray()) {
    Array sorted;
    sorted.reserve(items->size());
    for (const Value& item : *items) sorted.push_back(Sorted(item));
    return sorted;
  }
  const Object* object = value.AsObject();
  if (object == nullptr) return value;
  std::vector<Member> members;
  members.reserve(object->size());
  for (const Member& member : *object) members.push_back({member.key, Sorted(member.value)});
  std::ranges::sort(members, {}, &Member::key);
  return Object::FromUnique(std::move(members));
}

}  // namespace

std::string WriteYaml(const Value& value, YamlOrder order) {
  YamlVisitor visitor;
  Walk(order == YamlOrder::kByKey ? Sorted(value) : value, visitor);
  return visitor.Take();
}

}  // namespace berth::codec
