#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "merge/field_types.h"
#include "merge/typed.h"

namespace berth::merge {
namespace {

using codec::Value;
using Form = FieldType::Form;

Value Merge(const Value& live, const Value& config, const FieldType& type);

bool IsEmpty(const Value& value) {
  if (const codec::Array* array = value.AsArray()) return array->empty();
  const codec::Object* object = value.AsObject();
  return object == nullptr || object->empty();
}

Value MergeObjects(const codec::Object& live, const codec::Object& config, const FieldType& type) {
  codec::Object merged = live;
  for (const codec::Member& member : config) {
    Value* present = merged.Find(member.key);
    if (present == nullptr) {
      merged.Set(member.key, member.value);
      continue;
    }
    const api::Field* field = type.form == Form::kMap ? type.field : type.message->Find(member.key);
    if (field == nullptr) continue;
    *present = Merge(*present, member.value,
                     type.form == Form::kMap ? EntryTypeOf(*field) : TypeOf(*field));
  }
  return merged;
}

// Two lists on their way into one. The entries of config come in its order. Before each of them
// come those that only live has, as far as the next entry that both have: so a list that config
// says nothing new about keeps the order of live.
class ListMerge {
 public:
  ListMerge(const codec::Array& live, const codec::Array& config, const api::Field& field)
      : live_(live), config_(config), type_(EntryTypeOf(field)) {
    for (const Value& entry : config) {
      const auto at = places_.try_emplace(EntryElement(field, entry, Layout::kDocument)).first;
      by_config_.push_back(&at->second);
    }
    for (size_t i = 0; i < live.size(); ++i) {
      const auto at = places_.find(EntryElement(field, live[i], Layout::kDocument));
      only_live_.push_back(at == places_.end());
      if (at == places_.end()) continue;
      at->second.twice = at->second.live.has_value();
      if (!at->second.twice) at->second.live = i;
    }
  }

  codec::Array Run() {
    for (size_t i = 0; i < config_.size(); ++i) {
      const std::optional<size_t> barrier = NextShared(i);
      TakeLive(barrier && *barrier >= next_live_ ? *barrier : live_.size());
      const Place& place = *by_config_[i];
      merged_.push_back(!place.live || place.twice ? config_[i]
                                                   : Merge(live_[*place.live], config_[i], type_));
    }
    TakeLive(live_.size());
    return std::move(merged_);
  }

 private:
  // Where in live an entry of config has its partner.
  struct Place {
    std::optional<size_t> live;
    bool twice = false;  // There are several: none of them is merged.
  };

  // In live, that of the first entry from the i-th of config on which both have.
  std::optional<size_t> NextShared(size_t i) {
    for (shared_ = std::max(shared_, i); shared_ < config_.size(); ++shared_) {
      if (by_config_[shared_]->live) return by_config_[shared_]->live;
    }
    return std::nullopt;
  }

  void TakeLive(size_t end) {
    for (; next_live_ < end; ++next_live_) {
      if (only_live_[next_live_]) merged_.push_back(live_[next_live_]);
    }
  }

  const codec::Array& live_;
  const codec::Array& config_;
  const FieldType type_;
  std::map<PathElement, Place> places_;  // Of what config has.
  std::vector<const Place*> by_config_;
  std::vector<bool> only_live_;
  codec::Array merged_;
  size_t next_live_ = 0;
  size_t shared_ = 0;
};

Value Merge(const Value& live, const Value& config, const FieldType& type) {
  if (type.atomic || (IsEmpty(live) && IsEmpty(config))) return config;
  if (IsEmpty(config)) return live;
  if (IsEmpty(live)) return config;
  if (type.form == Form::kList) {
    return ListMerge(*live.AsArray(), *config.AsArray(), *type.field).Run();
  }
  return MergeObjects(*live.AsObject(), *config.AsObject(), type);
}

}  // namespace

Value MergeDocuments(const Value& live, const Value& config, const api::Message& message) {
  return Merge(live, config, ObjectType(message));
}

}  // namespace berth::merge
