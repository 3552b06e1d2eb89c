#include <algorithm>
#include <map>
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

// Merges two lists. The entries of config are in its order. Before each of them come the entries
// that only live has, up to the next entry that both have. So if config has no new entries, the
// list keeps the order of live.
class DocumentListMerge {
 public:
  DocumentListMerge(const codec::Array& live, const codec::Array& config, const api::Field& field)
      : live_(live), config_(config), type_(EntryTypeOf(field)) {
    for (const Value& entry : config) {
      const auto at = places_.try_emplace(EntryElement(field, entry, Layout::kDocument)).first;
      by_config_.push_back(&at->second);
    }
    for (size_t i = 0; i < live.size(); ++i) {
      const auto at = places_.find(EntryElement(field, live[i], Layout::kDocument));
      only_live_.push_back(at == places_.end());
      if (at != places_.end()) at->second.push_back(i);
    }
  }

  codec::Array Run() {
    for (size_t i = 0; i < config_.size(); ++i) {
      TakeLive(Barrier(i));
      const Places& places = *by_config_[i];
      merged_.push_back(places.size() == 1 ? Merge(live_[places[0]], config_[i], type_)
                                           : config_[i]);
    }
    TakeLive(live_.size());
    return std::move(merged_);
  }

 private:
  // The positions in live of an entry of config, in order. An entry with several is not merged.
  using Places = std::vector<size_t>;

  // Returns the position in live of the next entry that both have, from the i-th of config on.
  // Returns the end if that position has already been passed.
  size_t Barrier(size_t i) {
    shared_ = std::max(shared_, i);
    while (shared_ < config_.size() && by_config_[shared_]->empty()) ++shared_;
    if (shared_ == config_.size()) return live_.size();
    const Places& places = *by_config_[shared_];
    const auto at = std::lower_bound(places.begin(), places.end(), next_live_);
    return at == places.end() ? live_.size() : *at;
  }

  void TakeLive(size_t end) {
    for (; next_live_ < end; ++next_live_) {
      if (only_live_[next_live_]) merged_.push_back(live_[next_live_]);
    }
  }

  const codec::Array& live_;
  const codec::Array& config_;
  const FieldType type_;
  std::map<PathElement, Places> places_;
  std::vector<const Places*> by_config_;
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
    return DocumentListMerge(*live.AsArray(), *config.AsArray(), *type.field).Run();
  }
  return MergeObjects(*live.AsObject(), *config.AsObject(), type);
}

}  // namespace

Value MergeDocuments(const Value& live, const Value& config, const api::Message& message) {
  return Merge(live, config, ObjectType(message));
}

}  // namespace berth::merge
