// Descriptions of the API's messages as data. Codecs, patches and OpenAPI are each written once and
// driven by these tables. Everything here is constant, made at compile time, and may be read from
// any thread. The tables are in the other files of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace berth::api {

/// The type of one value of a field.
enum class Type : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kTime,         // UTC with whole seconds: "2026-11-15T04:35:00Z".
  kMicroTime,    // UTC with six digits: "2026-11-15T04:35:00.123456Z".
  kIntOrString,  // An int32 or a string; the choice is part of the value.
  kFieldsV1,     // A JSON object that only server-side apply reads.
  kQuantity,     // An amount with a unit: "500m", "2Gi" (codec/quantity.h).
  kMessage,
};

enum class Shape : uint8_t {
  kOne,
  kList,
  kMap,  // The keys are strings; the values are strings or quantities.
};

/// When JSON contains a field. This determines protobuf too, because both follow from the Go type.
/// kOmitNil is a pointer, which protobuf writes if it is set. Protobuf always writes all others
/// (lists and maps: one field for each entry).
enum class Presence : uint8_t {
  kAlways,     // With "", 0, false, {} or, for a time and a list, null if it is not set.
  kOmitEmpty,  // Omitted if empty: "" and 0 mean not set.
  kOmitNil,    // Omitted if not set; "", 0, false and {} are ordinary values.
};

/// How server-side apply owns the entries of a list.
enum class ListKind : uint8_t {
  kAtomic,  // The list as a whole.
  kSet,     // Each entry, identified by its value.
  kMap,     // Each entry, identified by `list_keys`.
};

struct ListKey {
  std::string_view name;
  std::string_view default_text = {};  // Value of a missing key. Empty if the key is required.
};

/// The key that identifies a condition of an object.
inline constexpr std::array<ListKey, 1> kConditionKey = {{{.name = "type"}}};

struct Message;

struct Field {
  std::string_view name;  // In JSON.
  uint32_t number = 0;    // In protobuf; 0 for kinds that are never written as protobuf.
  Type type = Type::kString;
  Shape shape = Shape::kOne;
  Presence presence = Presence::kOmitEmpty;
  const Message* message = nullptr;  // For kMessage.
  std::string_view go_type = {};     // Go's name for a string type, if not just "string".
  bool required = false;             // In OpenAPI.
  bool atomic = false;               // A map that server-side apply owns as a whole.
  bool keep_empty = false;           // A list for which [] and "not set" differ.
  ListKind list_kind = ListKind::kAtomic;
  std::span<const ListKey> list_keys = {};
  std::string_view patch_merge_key = {};  // Strategic merge: the key of an entry.
  std::string_view patch_strategy = {};   // Strategic merge: "merge", or empty for replace.
  std::string_view default_text = {};     // JSON text of the default in OpenAPI.
  std::string_view description = {};

  /// Returns whether "not set" and "empty" differ.
  constexpr bool IsPointer() const { return presence == Presence::kOmitNil; }
};

/// The most fields of any message. Codecs use arrays of this size for data about a message.
inline constexpr size_t kMaxFields = 32;

struct Message {
  std::string_view openapi_name;  // "io.k8s.api.core.v1.ServiceSpec"
  std::string_view description;
  std::span<const Field> fields;            // In the order of JSON.
  std::span<const uint8_t> by_number = {};  // Positions in `fields`, by ascending number.
  std::span<const uint8_t> by_name = {};    // Positions in `fields`, by the bytes of the name.
  bool atomic = false;                      // Server-side apply owns it as a whole.

  /// Returns null if there is no such field. `hint` is the position to look at first. Readers that
  /// expect fields in the usual order pass the position after the last one.
  const Field* Find(std::string_view name, size_t hint = 0) const {
    for (size_t i = hint; i < fields.size(); ++i) {
      if (fields[i].name == name) return &fields[i];
    }
    for (size_t i = 0; i < hint && i < fields.size(); ++i) {
      if (fields[i].name == name) return &fields[i];
    }
    return nullptr;
  }

  /// Like Find, but by number.
  const Field* FindNumber(uint32_t number) const;

  size_t PositionOf(const Field& field) const {
    return static_cast<size_t>(&field - fields.data());
  }

  /// Returns a name like "ServiceSpec".
  std::string_view Name() const;

  /// Returns Go's name for the type, like "v1.ServiceSpec".
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
