// The walk from a document to a canonical object, for every form a document
// can have. For use inside codec.
//
// A Source is a cheap handle to one node of a document:
//   Kind GetKind();  bool Bool();  int64_t Int();  uint64_t Uint();  double Double();
//   std::string_view String();  size_t Size();
//   void Items(auto f);    calls f(Source) for each item of an array
//   void Members(auto f);  calls f(std::string_view key, Source) for each member of an object
// A getter is only called for its own kind. Each integer has one kind, as in Value.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema.h"
#include "base/escape.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/fields.h"
#include "codec/scalar.h"
#include "codec/value.h"

namespace berth::codec {

/// The faults found so far, and the current position of the walk.
class WalkNotes {
 public:
  explicit WalkNotes(bool report_problems) : report_(report_problems) {}

  /// During the lifetime of a Step, the walk is inside a field, or an entry of a list or map.
  class Step {
   public:
    /// `owner` is the message of a field, or null for an entry of a map.
    Step(WalkNotes& notes, const api::Message* owner, std::string_view name)
        : notes_(notes), outer_(notes.innermost_), owner_(owner), name_(name) {
      notes_.innermost_ = this;
    }
    Step(WalkNotes& notes, size_t index) : notes_(notes), outer_(notes.innermost_), index_(index) {
      notes_.innermost_ = this;
    }
    ~Step() { notes_.innermost_ = outer_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    friend class WalkNotes;

    WalkNotes& notes_;
    const Step* outer_;
    const api::Message* owner_ = nullptr;
    std::string_view name_ = {};
    size_t index_ = kNoIndex;
  };

  /// Reports a problem with the member that the innermost step names.
  void Report(Problem::Kind kind);

  /// Records a fault. Only the first one counts. `found` and `type` are Go's names.
  void TypeError(std::string_view found, std::string_view type);
  void Fault(std::string message);

  bool Failed() const { return fault_.has_value(); }
  std::string TakeFault() { return std::move(*fault_); }
  std::vector<Problem> TakeProblems() { return std::move(problems_); }

 private:
  static constexpr size_t kNoIndex = SIZE_MAX;

  std::vector<const Step*> Steps() const;  // From the outermost to the innermost.
  std::string Path() const;

  const bool report_;
  const Step* innermost_ = nullptr;
  std::vector<Problem> problems_;
  std::optional<std::string> fault_;
};

/// Returns Go's name for the kind of a value in a document.
std::string_view NameOfKind(Kind kind);

/// Returns Go's name for the type of one value of `field`.
std::string_view GoTypeOf(const api::Field& field);

/// Returns the canonical text of a time, or "" for Go's zero time. Errors go to `notes`.
std::string CanonicalTime(std::string_view text, bool micros, WalkNotes& notes);

/// Returns the canonical text of an amount. Errors go to `notes`.
std::string CanonicalQuantity(std::string_view text, WalkNotes& notes);

/// Appends a tree as compact JSON with Go's escapes.
template <typename Source>
void AppendCompact(std::string& out, const Source& source) {
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) out += ',';
  };
  switch (source.GetKind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += source.Bool() ? "true" : "false";
      return;
    case Kind::kInt:
      AppendInteger(out, source.Int());
      return;
    case Kind::kUint:
      AppendInteger(out, source.Uint());
      return;
    case Kind::kDouble:
      base::AppendJsonDouble(out, source.Double());
      return;
    case Kind::kString:
      AppendGoJsonString(out, source.String());
      return;
    case Kind::kArray:
      out += '[';
      source.Items([&](const Source& item) {
        separate();
        AppendCompact(out, item);
      });
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      source.Members([&](std::string_view key, const Source& item) {
        separate();
        AppendGoJsonString(out, key);
        out += ':';
        AppendCompact(out, item);
      });
      out += '}';
      return;
  }
}

template <typename Source>
class DecodeWalk {
 public:
  explicit DecodeWalk(WalkNotes& notes) : notes_(notes) {}

  /// Reads the members of an object. `take_header` takes kind and apiVersion, which only the
  /// outermost object has, and returns whether a member was one of them.
  template <typename TakeHeader>
  Object ReadObject(const Source& source, const api::Message& message, TakeHeader take_header) {
    MemberFiller filler(message, source.Size());
    size_t hint = 0;
    source.Members([&](std::string_view key, const Source& value) {
      if (notes_.Failed() || take_header(key, value)) return;
      const api::Field* field = message.Find(key, hint);
      const WalkNotes::Step step(notes_, &message, key);
      if (field == nullptr) {
        notes_.Report(Problem::Kind::kUnknown);
        return;
      }
      const size_t position = message.PositionOf(*field);
      hint = position + 1;
      const bool again = filler.MarkSeen(position);
      if (again) notes_.Report(Problem::Kind::kDuplicate);
      if (value.GetKind() == Kind::kNull) return;
      if (again) filler.Withdraw(position);  // The last of several counts.
      Value& content = filler.Put(position);
      ReadField(value, *field, content);
      if (content.IsNull()) filler.Unput();
    });
    return filler.Finish();
  }

  Object ReadMessage(const Source& source, const api::Message& message) {
    return ReadObject(source, message, [](std::string_view, const Source&) { return false; });
  }

 private:
  // Each of these fills `out`, which is null at first, and leaves it null for "not set".
  void ReadField(const Source& source, const api::Field& field, Value& out) {
    switch (field.shape) {
      case api::Shape::kList:
        ReadList(source, field, out);
        return;
      case api::Shape::kMap:
        ReadMap(source, field, out);
        return;
      case api::Shape::kOne:
        ReadOne(source, field, out);
        if (IsUnset(out, field)) out = nullptr;
        return;
    }
  }

  void ReadList(const Source& source, const api::Field& field, Value& out) {
    if (source.GetKind() != Kind::kArray) {
      Mismatch(source, "[]" + std::string(GoTypeOf(field)));
      return;
    }
    const size_t size = source.Size();
    if (size == 0 && !field.keep_empty) return;
    Array& array = out.MakeArray();
    array.reserve(size);
    source.Items([&](const Source& item) {
      if (notes_.Failed()) return;
      const WalkNotes::Step step(notes_, array.size());
      ReadEntry(item, field, array.emplace_back());
    });
  }

  // In a list or map, null is the empty value of the type.
  void ReadEntry(const Source& source, const api::Field& field, Value& out) {
    if (source.GetKind() != Kind::kNull) {
      ReadOne(source, field, out);
    } else if (field.type == api::Type::kMessage) {
      out.MakeObject();
    } else if (field.type == api::Type::kQuantity) {
      out.MakeString("0");
    } else {
      out.MakeString({});
    }
  }

  void ReadMap(const Source& source, const api::Field& field, Value& out) {
    if (source.GetKind() != Kind::kObject) {
      Mismatch(source, field.go_type.empty() ? "map[string]string" : field.go_type);
      return;
    }
    const size_t size = source.Size();
    if (size == 0) return;
    Object& object = out.MakeObject();
    object.Reserve(size);
    source.Members([&](std::string_view key, const Source& item) {
      if (notes_.Failed()) return;
      const WalkNotes::Step step(notes_, nullptr, key);
      if (object.Find(key) != nullptr) notes_.Report(Problem::Kind::kDuplicate);
      ReadEntry(item, field, object.Set(std::string(key), nullptr));
    });
  }

  void ReadOne(const Source& source, const api::Field& field, Value& out) {
    const Kind kind = source.GetKind();
    switch (field.type) {
      case api::Type::kString:
        if (kind != Kind::kString) break;
        out.MakeString(source.String());
        return;
      case api::Type::kBool:
        if (kind != Kind::kBool) break;
        out = source.Bool();
        return;
      case api::Type::kInt32:
        ReadInt(source, INT32_MIN, INT32_MAX, "int32", out);
        return;
      case api::Type::kInt64:
        ReadInt(source, INT64_MIN, INT64_MAX, "int64", out);
        return;
      case api::Type::kIntOrString:
        if (kind == Kind::kString) {
          out.MakeString(source.String());
        } else {
          ReadInt(source, INT32_MIN, INT32_MAX, "int32", out);
        }
        return;
      case api::Type::kTime:
      case api::Type::kMicroTime:
        ReadTime(source, field, out);
        return;
      case api::Type::kFieldsV1:
        AppendCompact(out.MakeString({}), source);
        return;
      case api::Type::kQuantity:
        ReadQuantity(source, out);
        return;
      case api::Type::kMessage:
        if (kind != Kind::kObject) break;
        out.MakeObject() = ReadMessage(source, *field.message);
        return;
    }
    Mismatch(source, GoTypeOf(field));
  }

  void ReadInt(const Source& source, int64_t least, int64_t most, std::string_view type,
               Value& out) {
    if (source.GetKind() != Kind::kInt || source.Int() < least || source.Int() > most) {
      Mismatch(source, type);
    } else {
      out = source.Int();
    }
  }

  void ReadTime(const Source& source, const api::Field& field, Value& out) {
    if (source.GetKind() != Kind::kString) {
      Mismatch(source, "string");
      return;
    }
    const bool micros = field.type == api::Type::kMicroTime;
    std::string text = CanonicalTime(source.String(), micros, notes_);
    if (!text.empty()) out = std::move(text);
  }

  // Reads a string or a number. Everything else is text that is no amount.
  void ReadQuantity(const Source& source, Value& out) {
    std::string text;
    if (source.GetKind() == Kind::kString) {
      text = source.String();
    } else {
      AppendCompact(text, source);
    }
    out = CanonicalQuantity(text, notes_);
  }

  void Mismatch(const Source& source, std::string_view type) {
    std::string found(NameOfKind(source.GetKind()));
    if (found == "number" && type.starts_with("int")) {
      found += ' ';
      AppendCompact(found, source);
    }
    notes_.TypeError(found, type);
  }

  WalkNotes& notes_;
};

}  // namespace berth::codec
