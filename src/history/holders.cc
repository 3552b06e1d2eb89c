#include "history/holders.h"

#include <utility>

namespace berth::history {
namespace {

constexpr Millis kUnknownTime = INT64_MIN;

}  // namespace

Hold::Hold(const Held& held, Millis since, std::optional<Millis> earliest)
    : low_(base::Low64(held.value.value)),
      high_(base::High64(held.value.value)),
      since_(since),
      earliest_(earliest.value_or(kUnknownTime)),
      pool_(held.value.pool),
      origin_(held.origin),
      purpose_(held.purpose) {}

Held Hold::held() const {
  return {.value = {.pool = pool_, .value = base::MakeU128(high_, low_)},
          .origin = origin_,
          .purpose = purpose_};
}

std::optional<Millis> Hold::earliest() const {
  if (earliest_ == kUnknownTime) return std::nullopt;
  return earliest_;
}

std::string Holder::Uid() const {
  if (const auto* text = std::get_if<std::string>(&uid)) return *text;
  std::string text;
  base::AppendUuid(text, std::get<base::PackedUuid>(uid));
  return text;
}

void Holder::SetUid(const std::string& text) {
  if (const auto packed = base::PackUuid(text)) {
    uid = *packed;
  } else {
    uid = text;
  }
}

std::string Holders::KeyOf(std::string_view name_space, std::string_view name) {
  std::string key(name_space);
  key += '/';
  key += name;
  return key;
}

Holder* Holders::Find(std::string_view name_space, std::string_view name) {
  const auto found = map_.find(KeyOf(name_space, name));
  return found == map_.end() ? nullptr : &found->second;
}

Holder& Holders::Get(const Owner& owner) {
  const auto [at, is_new] = map_.try_emplace(KeyOf(owner.name_space, owner.name));
  if (is_new) at->second.SetUid(owner.uid);
  return at->second;
}

void Holders::Erase(std::string_view name_space, std::string_view name) {
  map_.erase(KeyOf(name_space, name));
}

Owner Holders::OwnerOf(const Map::value_type& element) {
  // A name cannot contain a slash, and a namespace neither.
  const size_t slash = element.first.find('/');
  return {.name_space = element.first.substr(0, slash),
          .name = element.first.substr(slash + 1),
          .uid = element.second.Uid()};
}

}  // namespace berth::history
