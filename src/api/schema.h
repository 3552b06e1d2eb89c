// What a message of the API looks like, as data: codecs, patches and OpenAPI are each written once
// and driven by these tables. Everything here is constant, made at compile time, and may be read
// from any thread. The tables themselves are in the other files of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace berth::api {

/// What one value of a field is.
enum class Type : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kTime,         // "2026-11-15T04:35:00Z": UTC, whole seconds.
  kMicroTime,    // "2026-11-15T04:35:00.123456Z": UTC, six digits.
  kIntOrString,  // An int32 or a string; which of them is part of the value.
  kFieldsV1,     // A JSON object that nobody but server-side apply looks into.
  kMessage,
};

enum class Shape : uint8_t {
  kOne,
  kList,
  kMap,  // From strings; the values are always strings.
};

/// When JSON carries a field. It says at once how protobuf does it, because both follow from the
/// Go type: kOmitNil is a pointer, which protobuf writes if it is set; all others it writes always
/// (lists and maps: one field for each entry).
enum class Presence : uint8_t {
  kAlways,     // With "", 0, false, {} or, for a time, null when it is not set.
  kOmitEmpty,  // Left out when empty: "" and 0 mean not set.
  kOmitNil,    // Left out when not set; "", 0, false and {} are values like others.
};

/// Who owns the entries of a list in server-side apply.
enum class ListKind : uint8_t {
  kAtomic,  // The list as a whole.
  kSet,     // Each entry, told apart by its value.
  kMap,     // Each entry, told apart by `list_keys`.
};

struct ListKey {
  std::string_view name;
  std::string_view default_text = {};  // What a key left out counts as; empty: it must be there.
};

struct Message;

struct Field {
  std::string_view name;  // In JSON.
  uint32_t number = 0;    // In protobuf; 0 for kinds that are never written so.
  Type type = Type::kString;
  Shape shape = Shape::kOne;
  Presence presence = Presence::kOmitEmpty;
  const Message* message = nullptr;  // Of type kMessage.
  std::string_view go_type = {};     // As Go's decoder names a string type, if not just "string".
  bool required = false;             // In OpenAPI.
  bool atomic = false;               // A map that server-side apply takes as a whole.
  bool keep_empty = false;           // A list: [] says something else than leaving it out.
  ListKind list_kind = ListKind::kAtomic;
  std::span<const ListKey> list_keys = {};
  std::string_view patch_merge_key = {};  // Strategic merge: what tells entries apart.
  std::string_view patch_strategy = {};   // Strategic merge: "merge", or empty for replace.
  std::string_view default_text = {};     // JSON text of the default that OpenAPI tells.
  std::string_view description = {};

  /// Whether "not set" and "empty" differ.
  constexpr bool IsPointer() const { return presence == Presence::kOmitNil; }
};

/// No message has more; codecs keep their notes about a message in arrays of this size.
inline constexpr size_t kMaxFields = 32;

struct Message {
  std::string_view openapi_name;  // "io.k8s.api.core.v1.ServiceSpec"
  std::string_view description;
  std::span<const Field> fields;            // In the order in which JSON is written.
  std::span<const uint8_t> by_number = {};  // Positions in `fields`, by ascending number.
  std::span<const uint8_t> by_name = {};    // The same by name, byte for byte.
  bool atomic = false;                      // Server-side apply takes it as a whole.

  /// Null if there is no such field. `hint` is where to look first: readers that meet fields in
  /// the usual order pass one more than the position of the last.
  const Field* Find(std::string_view name, size_t hint = 0) const {
    for (size_t i = hint; i < fields.size(); ++i) {
      if (fields[i].name == name) return &fields[i];
    }
    for (size_t i = 0; i < hint && i < fields.size(); ++i) {
      if (fields[i].name == name) return &fields[i];
    }
    return nullptr;
  }

  /// As Find, by number.
  const Field* FindNumber(uint32_t number) const;

  size_t PositionOf(const Field& field) const {
    return static_cast<size_t>(&field - fields.data());
  }

  /// "ServiceSpec"
  std::string_view Name() const;

  /// "v1.ServiceSpec", as Go's decoder names it.
  std::string_view GoType() const;
};

/// The fields of one message with their orders, for the files that declare messages.
template <size_t N>
struct FieldTable {
  static_assert(N <= kMaxFields);

  consteval explicit FieldTable(const std::array<Field, N>& table) : fields(table) {
    const auto sorted = [this](auto less) {
      std::array<uint8_t, N> positions{};
      for (size_t i = 0; i < N; ++i) positions[i] = static_cast<uint8_t>(i);
      std::sort(positions.begin(), positions.end(),
                [&](uint8_t a, uint8_t b) { return less(fields[a], fields[b]); });
      return positions;
    };
    by_number = sorted([](const Field& a, const Field& b) { return a.number < b.number; });
    by_name = sorted([](const Field& a, const Field& b) { return a.name < b.name; });
  }

  std::array<Field, N> fields;
  std::array<uint8_t, N> by_number{};
  std::array<uint8_t, N> by_name{};
};

}  // namespace berth::api
