#include "codec/encode.h"

#include <array>
#include <utility>

#include "api/meta.h"
#include "base/escape.h"
#include "codec/decode_walk.h"
#include "codec/fields.h"
#include "codec/json.h"
#include "codec/json_dom.h"
#include "codec/scalar.h"
#include "codec/sources.h"

namespace berth::codec {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// The bytes that Go's encoder copies unchanged. All others take the slow path.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = true;
  for (const char c : {'"', '\\', '<', '>', '&'}) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

void AppendAsciiEscape(std::string& out, unsigned char c) {
  static constexpr std::string_view kLetters = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kNames = "\"\\bfnrt";
  const size_t at = kLetters.find(static_cast<char>(c));
  out += '\\';
  if (at != std::string_view::npos) {
    out += kNames[at];
    return;
  }
  out += "u00";
  out += kHexDigits[c >> 4];
  out += kHexDigits[c & 0xF];
}

// Appends the character at the front of `text`, which is not ASCII. Returns its length in bytes.
size_t AppendMultiByte(std::string& out, std::string_view text) {
  const size_t bad = base::FindInvalidUtf8(text.substr(0, 4));
  if (bad == 0) {
    out += "\\ufffd";
    return 1;
  }
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const std::string_view sequence = text.substr(0, length);
  if (sequence == "\u2028") {
    out += "\\u2028";
  } else if (sequence == "\u2029") {
    out += "\\u2029";
  } else {
    out += sequence;
  }
  return length;
}

// Writes messages by Go's rules.
class Writer {
 public:
  enum class Version : uint8_t { kAsItIs, kLeftOpen };

  explicit Writer(Version version) : version_(version) { out_.reserve(2048); }

  std::string Take() { return std::move(out_); }
  size_t Size() const { return out_.size(); }

  WireJson TakeWire(size_t metadata_at) {
    return {.text = std::move(out_),
            .metadata_at = static_cast<uint32_t>(metadata_at),
            .version_at = static_cast<uint32_t>(version_at_),
            .managed_at = static_cast<uint32_t>(managed_at_),
            .managed_size = static_cast<uint32_t>(managed_size_)};
  }

  void Begin(const Identity& identity) {
    out_ += '{';
    if (identity.kind.empty()) return;
    Key("kind");
    AppendGoJsonString(out_, identity.kind);
    Key("apiVersion");
    AppendGoJsonString(out_, identity.api_version);
  }

  void Members(const Value* value, const api::Message& message) {
    const FieldValues values(value, message);
    for (size_t i = 0; i < message.fields.size(); ++i) {
      Field(message.fields[i], values.At(i), message);
    }
  }

  void End() { out_ += '}'; }

 private:
  void Key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += name;  // Field names need no escapes.
    out_ += "\":";
  }

  void Field(const api::Field& field, const Value* value, const api::Message& message) {
    if (field.shape == api::Shape::kList) {
      const size_t before = out_.size();
      List(field, value == nullptr ? nullptr : value->AsArray());
      if (&message == &api::kObjectMeta && field.name == kManagedFields && out_.size() > before) {
        managed_at_ = before;
        managed_size_ = out_.size() - before;
      }
      return;
    }
    if (field.shape == api::Shape::kMap) {
      Map(field, value == nullptr ? nullptr : value->AsObject());
      return;
    }
    if (version_ == Version::kLeftOpen && &message == &api::kObjectMeta &&
        field.name == "resourceVersion") {
      Key(field.name);
      out_ += "\"\"";
      version_at_ = out_.size() - 1;
      return;
    }
    if (value != nullptr && !FitsType(*value, field.type)) value = nullptr;
    if (value == nullptr && field.presence != api::Presence::kAlways) return;
    if (field.presence == api::Presence::kOmitEmpty && IsZeroValue(*value)) return;
    Key(field.name);
    if (value == nullptr) {
      Default(field);
    } else {
      One(field, *value);
    }
  }

  void List(const api::Field& field, const Array* array) {
    if (array == nullptr || array->empty()) {
      if (field.presence != api::Presence::kAlways) return;
      Key(field.name);
      out_ += "null";
      return;
    }
    Key(field.name);
    out_ += '[';
    for (const Value& item : *array) {
      if (out_.back() != '[') out_ += ',';
      if (FitsType(item, field.type)) {
        One(field, item);
      } else {
        Default(field);
      }
    }
    out_ += ']';
  }

  void Map(const api::Field& field, const Object* object) {
    if (object == nullptr || object->empty()) return;
    Key(field.name);
    out_ += '{';
    ForEachByKey(*object, [&](const Member& member) {
      if (out_.back() != '{') out_ += ',';
      AppendGoJsonString(out_, member.key);
      out_ += ':';
      const std::string* text = member.value.AsString();
      AppendGoJsonString(out_, text == nullptr ? std::string_view() : std::string_view(*text));
    });
    out_ += '}';
  }

  void One(const api::Field& field, const Value& value) {
    if (field.type == api::Type::kMessage) {
      Begin({});
      Members(&value, *field.message);
      End();
      return;
    }
    const std::string* text = value.AsString();
    if (field.type == api::Type::kFieldsV1) {
      out_ += *text;  // The text is already JSON.
    } else if (text != nullptr) {
      AppendGoJsonString(out_, *text);
    } else {
      AppendPlainScalar(out_, value);
    }
  }

  // Writes what Go writes for a field that was never set.
  void Default(const api::Field& field) {
    switch (field.type) {
      case api::Type::kString:
        out_ += "\"\"";
        return;
      case api::Type::kBool:
        out_ += "false";
        return;
      case api::Type::kInt32:
      case api::Type::kInt64:
      case api::Type::kIntOrString:
        out_ += '0';
        return;
      case api::Type::kQuantity:
        out_ += "\"0\"";
        return;
      case api::Type::kTime:
      case api::Type::kMicroTime:
      case api::Type::kFieldsV1:
        out_ += "null";
        return;
      case api::Type::kMessage:
        Begin({});
        Members(nullptr, *field.message);
        End();
        return;
    }
  }

  const Version version_;
  size_t version_at_ = 0;
  size_t managed_at_ = 0;
  size_t managed_size_ = 0;
  std::string out_;
};

}  // namespace

void AppendGoJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t run = 0;  // Start of the bytes that can be copied.
  size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kPlain[byte]) {
      ++i;
      continue;
    }
    out.append(text, run, i - run);
    if (byte < 0x80) {
      AppendAsciiEscape(out, byte);
      ++i;
    } else {
      i += AppendMultiByte(out, text.substr(i));
    }
    run = i;
  }
  out.append(text, run, text.size() - run);
  out += '"';
}

WireJson EncodeJson(const Value& canonical, const api::Message& message, const Identity& identity) {
  Writer writer(Writer::Version::kLeftOpen);
  writer.Begin(identity);
  // After the comma, which the first member writes.
  const size_t metadata_at = writer.Size() + (identity.kind.empty() ? 0 : 1);
  writer.Members(&canonical, message);
  writer.End();
  return writer.TakeWire(metadata_at);
}

std::string EncodeMessage(const Value& canonical, const api::Message& message,
                          const Identity& identity) {
  Writer writer(Writer::Version::kAsItIs);
  writer.Begin(identity);
  writer.Members(&canonical, message);
  writer.End();
  return writer.Take();
}

base::Result<Value> DecodeWire(std::string_view text, const api::Message& message) {
  JsonDom dom;
  const auto root = dom.Parse(text, {.bytes = SIZE_MAX, .depth = kDeepestAllowed});
  if (!root) return tl::unexpected(root.error());
  if (!root->is_object()) return base::Fail(base::Reason::kBadRequest, "this is not a JSON object");
  WalkNotes notes(/*report_problems=*/false);
  DecodeWalk<JsonSource> walk(notes);
  Value object = walk.ReadMessage(JsonSource{*root}, message);
  if (notes.Failed()) return base::Fail(base::Reason::kBadRequest, notes.TakeFault());
  return object;
}

}  // namespace berth::codec
