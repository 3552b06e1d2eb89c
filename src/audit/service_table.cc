#include "audit/service_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace berth::audit {
namespace {

constexpr size_t kLongestText = 0xFFFF;
constexpr size_t kUuidText = 36;

bool IsDash(size_t place) { return place == 8 || place == 13 || place == 18 || place == 23; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Returns the bytes of a UUID in the form in which servers write it, or nullopt for other texts.
std::optional<std::array<char, 16>> PackUuid(std::string_view text) {
  if (text.size() != kUuidText) return std::nullopt;
  std::array<char, 16> packed = {};
  size_t digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsDash(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int digit = HexDigit(text[i]);
    if (digit < 0) return std::nullopt;
    char& byte = packed[digits++ / 2];
    byte = static_cast<char>(static_cast<unsigned char>(byte) << 4 | digit);
  }
  return packed;
}

std::string UnpackUuid(const std::array<char, 16>& packed) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(kUuidText);
  for (const char c : packed) {
    if (IsDash(text.size())) text += '-';
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

void AppendLength(std::string& out, size_t length) {
  out += static_cast<char>(length >> 8);
  out += static_cast<char>(length);
}

size_t LengthAt(const char* text) {
  return static_cast<size_t>(static_cast<unsigned char>(text[0])) << 8 |
         static_cast<unsigned char>(text[1]);
}

std::string_view Cut(std::string_view text) { return text.substr(0, kLongestText); }

}  // namespace

char* TextStore::Keep(std::string_view text) {
  if (text.size() > kBlock / 4) {  // It gets a block of its own, before the one that is in use.
    auto own = std::make_unique<char[]>(text.size());  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(own.get(), text.data(), text.size());
    char* at = own.get();
    blocks_.insert(blocks_.empty() ? blocks_.end() : std::prev(blocks_.end()), std::move(own));
    return at;
  }
  if (used_ + text.size() > kBlock) {
    blocks_.push_back(std::make_unique<char[]>(kBlock));  // NOLINT(modernize-avoid-c-arrays)
    used_ = 0;
  }
  char* at = blocks_.back().get() + used_;
  std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return at;
}

ServiceTable::Key ServiceTable::KeyOf(Id id) const {
  const char* text = TextOf(id);
  const size_t name_space = LengthAt(text + 1);
  return {.name_space = {text + kHeader, name_space},
          .name = {text + kHeader + name_space, LengthAt(text + 3)}};
}

ServiceTable::Id ServiceTable::Mention(std::string_view name_space, std::string_view name) {
  if (name.empty()) return kNone;
  const Key key{.name_space = Cut(name_space), .name = Cut(name)};
  if (const auto found = ids_.find(key); found != ids_.end()) return *found;
  std::string text(1, '\0');
  AppendLength(text, key.name_space.size());
  AppendLength(text, key.name.size());
  text.append(key.name_space).append(key.name);
  const auto id = static_cast<Id>(entries_.size());
  entries_.push_back({.text = texts_.Keep(text)});
  ids_.insert(id);
  return id;
}

ServiceTable::Id ServiceTable::Add(const ObjectRef& service) {
  const Id id = Mention(service.name_space, service.name);
  if (id == kNone) return id;
  Entry& entry = entries_[id];
  entry.text[0] = static_cast<char>(entry.text[0] | kExists);
  entry.revision = service.revision;
  SetUid(entry, service.uid);
  return id;
}

void ServiceTable::SetUid(Entry& entry, std::string_view uid) {
  if (const auto packed = PackUuid(uid)) {
    entry.uid = *packed;
    entry.text[0] = static_cast<char>(entry.text[0] & ~kOddUid);
    return;
  }
  std::string text;
  AppendLength(text, Cut(uid).size());
  text += Cut(uid);
  const char* at = texts_.Keep(text);
  std::memcpy(entry.uid.data(), static_cast<const void*>(&at), sizeof at);
  entry.text[0] = static_cast<char>(entry.text[0] | kOddUid);
}

std::string ServiceTable::UidOf(Id id) const {
  const Entry& entry = entries_[id];
  if ((entry.text[0] & kExists) == 0) return {};
  if ((entry.text[0] & kOddUid) == 0) return UnpackUuid(entry.uid);
  const char* at = nullptr;
  std::memcpy(static_cast<void*>(&at), entry.uid.data(), sizeof at);
  return {at + 2, LengthAt(at)};
}

bool ServiceTable::HasUid(Id id, std::string_view uid) const {
  const Entry& entry = entries_[id];
  if ((entry.text[0] & kOddUid) == 0) {
    const auto packed = PackUuid(uid);
    return packed && *packed == entry.uid;
  }
  return UidOf(id) == Cut(uid);
}

ObjectRef ServiceTable::RefOf(Id id) const {
  const Key key = KeyOf(id);
  return {.resource = "services",
          .name_space = std::string(key.name_space),
          .name = std::string(key.name),
          .uid = UidOf(id),
          .revision = entries_[id].revision};
}

std::string ServiceTable::NameOf(Id id) const {
  const Key key = KeyOf(id);
  return fmt::format("{}/{}", key.name_space, key.name);
}

}  // namespace berth::audit
