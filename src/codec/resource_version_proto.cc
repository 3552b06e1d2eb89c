#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "codec/resource_version.h"

namespace berth::codec {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::array<uint32_t, 3> kPath = {2, 1, 6};  // Unknown.raw, metadata, resourceVersion.

constexpr uint64_t kVarint = 0;
constexpr uint64_t kFixed64 = 1;
constexpr uint64_t kBytes = 2;
constexpr uint64_t kFixed32 = 5;

/// A length-delimited field, or the position where it belongs.
struct Field {
  size_t length_at = 0;  // Position of its length, or where to add the field.
  size_t begin = 0;      // Start of its content.
  size_t end = 0;
  bool there = false;
};

/// Reads a varint at `at` and moves past it.
std::optional<uint64_t> TakeVarint(std::string_view bytes, size_t& at, size_t end) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    number |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

/// Moves past the content of a field. Returns false if the content is not inside the message, and
/// for groups, which Kubernetes does not use.
bool SkipContent(std::string_view bytes, uint64_t wire_type, size_t& at, size_t end) {
  uint64_t size = 0;
  if (wire_type == kVarint) return TakeVarint(bytes, at, end).has_value();
  if (wire_type == kFixed64) {
    size = 8;
  } else if (wire_type == kFixed32) {
    size = 4;
  } else if (wire_type == kBytes) {
    const auto length = TakeVarint(bytes, at, end);
    if (!length) return false;
    size = *length;
  } else {
    return false;
  }
  if (size > end - at) return false;
  at += static_cast<size_t>(size);
  return true;
}

/// Returns the last field with this number in the message at [begin, end). Returns nullopt if those
/// bytes are not a message or the field has another type.
std::optional<Field> FindField(std::string_view bytes, size_t begin, size_t end, uint64_t number) {
  Field field;
  std::optional<size_t> first_above;
  for (size_t at = begin; at < end;) {
    const size_t tag_at = at;
    const auto tag = TakeVarint(bytes, at, end);
    if (!tag || *tag >> 3 == 0) return std::nullopt;
    const size_t content_at = at;
    if (!SkipContent(bytes, *tag & 7, at, end)) return std::nullopt;
    if (*tag >> 3 > number && !first_above) first_above = tag_at;
    if (*tag >> 3 != number) continue;
    if ((*tag & 7) != kBytes) return std::nullopt;
    size_t behind_length = content_at;
    TakeVarint(bytes, behind_length, end);
    field = {.length_at = content_at, .begin = behind_length, .end = at, .there = true};
  }
  if (!field.there) field.length_at = field.begin = field.end = first_above.value_or(end);
  return field;
}

/// Returns the fields of kPath, each inside the one before. A missing field has no content.
std::optional<std::array<Field, kPath.size()>> FindPath(std::string_view value) {
  if (!value.starts_with(kMagic)) return std::nullopt;
  std::array<Field, kPath.size()> fields;
  size_t begin = kMagic.size();
  size_t end = value.size();
  for (size_t i = 0; i < kPath.size(); ++i) {
    const auto field = FindField(value, begin, end, kPath[i]);
    if (!field) return std::nullopt;
    fields[i] = *field;
    begin = field->begin;
    end = field->end;
  }
  return fields;
}

struct Varint {
  explicit Varint(uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes[size++] = static_cast<char>(number | 0x80);
    bytes[size++] = static_cast<char>(number);
  }
  std::string_view Text() const { return {bytes.data(), size}; }

  std::array<char, 10> bytes{};
  size_t size = 0;
};

}  // namespace

std::optional<std::string_view> ProtoResourceVersion(std::string_view value) {
  const auto fields = FindPath(value);
  if (!fields) return std::nullopt;
  const Field& version = fields->back();
  return value.substr(version.begin, version.end - version.begin);
}

bool SetProtoResourceVersion(std::string& value, std::string_view version) {
  const auto fields = FindPath(value);
  if (!fields) return false;
  // From the inside out: each change is after the positions that are still to be changed.
  std::string content(version);
  size_t growth = 0;  // Growth inside `field`; wraps around if it shrinks.
  for (size_t i = kPath.size(); i-- > 0;) {
    const Field& field = (*fields)[i];
    if (!field.there) {
      const Varint length(content.size());
      content.insert(0, length.Text()).insert(0, 1, static_cast<char>(kPath[i] << 3 | kBytes));
      if (i == 0 || (*fields)[i - 1].there) {
        value.insert(field.length_at, content);
        growth = content.size();
      }
      continue;
    }
    const size_t old_size = field.end - field.begin;
    const bool innermost = i + 1 == kPath.size();
    if (innermost) {
      value.replace(field.begin, old_size, content);
      growth = content.size() - old_size;
    }
    const Varint length(old_size + growth);
    const size_t old_length = field.begin - field.length_at;
    value.replace(field.length_at, old_length, length.Text());
    growth += length.size - old_length;
  }
  return true;
}

}  // namespace berth::codec
