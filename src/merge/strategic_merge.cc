#include "merge/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "codec/read.h"
#include "merge/patch_errors.h"
#include "merge/strategic_list.h"

namespace berth::merge {
namespace {

using codec::Array;
using codec::Kind;
using codec::Member;
using codec::Object;
using codec::Value;

using Status = base::Result<void>;
using Elements = base::Result<std::vector<Element>>;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";

constexpr std::string_view kBadOrder = "invalid patch format of setElementOrder list";
constexpr std::string_view kBadDeletion = "invalid patch format of primitive list";
constexpr std::string_view kBadRetainKeys = "invalid patch format of retainKeys";

// Returns the list that a directive names after its slash, or nullopt if there is no slash.
std::optional<std::string_view> ListOf(std::string_view key, std::string_view directive) {
  key.remove_prefix(directive.size());
  if (!key.starts_with('/')) return std::nullopt;
  return key.substr(1);
}

auto UnknownDirective(const Value& directive, const Object& map) {
  return Unmergeable(
      fmt::format("unknown patch type: {} in map: {}", GoTextVerb(directive), GoText(map)));
}

enum class Nulls : uint8_t { kKeep, kDiscard };

// Returns a part of the patch that has nothing to be merged with, without its directives. Returns
// nullopt if it is only a directive.
std::optional<Value> Taken(const Value& patch, Nulls nulls) {
  if (const Array* items = patch.AsArray()) {
    Array list;
    list.reserve(items->size());
    for (const Value& item : *items) {
      if (auto taken = Taken(item, nulls)) list.push_back(*std::move(taken));
    }
    return list;
  }
  const Object* members = patch.AsObject();
  if (members == nullptr) return patch;
  if (members->Find(kPatch) != nullptr) return std::nullopt;
  std::vector<Member> kept;
  kept.reserve(members->size());
  for (const Member& member : *members) {
    if (member.value.IsNull() && nulls == Nulls::kDiscard) continue;
    if (auto taken = Taken(member.value, nulls)) kept.push_back({member.key, *std::move(taken)});
  }
  return Object::FromUnique(std::move(kept));
}

// A map of the object and its message. Maps of strings have no message.
struct Target {
  Object& map;
  const api::Message* message = nullptr;
};

base::Result<const api::Field*> FieldOf(const Target& target, std::string_view name) {
  if (target.message == nullptr) {
    return Unmergeable("merging an object in json but data type is not struct, instead is: map");
  }
  const api::Field* field = target.message->Find(name);
  if (field == nullptr) {
    return Unmergeable(fmt::format("unable to find api field in struct {} for the json field {}",
                                   target.message->Name(), base::GoQuoted(name)));
  }
  return field;
}

base::Result<const api::Field*> ListFieldOf(const Target& target, std::string_view name) {
  auto field = FieldOf(target, name);
  if (field && (*field)->shape != api::Shape::kList) {
    return Unmergeable("expected slice or array type, but got: struct");
  }
  return field;
}

Status MergeMap(const Target& target, const Object& patch);

// Merges one list of the object with its patch.
class StrategicListMerge {
 public:
  explicit StrategicListMerge(const api::Field& field)
      : field_(field), keys_(field.patch_merge_key), merges_(field.patch_strategy == "merge") {}

  const ElementKeys& Keys() const { return keys_; }
  bool Merges() const { return merges_; }

  /// Returns the merged list in its order.
  Elements Merge(Array list, const Array& patch) const {
    if (!merges_) return Replaced(list, patch);
    const auto kind = CommonKind(list, patch);
    if (!kind) return tl::unexpected(kind.error());
    if (!*kind) return std::vector<Element>();
    if (**kind != Kind::kObject) return MergeScalars(std::move(list), patch).map(Arranged);
    if (!keys_.OfMaps()) return Unmergeable("cannot merge lists without merge key for struct");
    std::vector<const Value*> plain;
    if (auto done = FollowDirectives(list, patch, plain); !done) {
      return tl::unexpected(std::move(done.error()));
    }
    return MergeMaps(std::move(list), plain).map(Arranged);
  }

 private:
  Elements Replaced(const Array& list, const Array& patch) const {
    const auto before = keys_.IndexOf(list);
    if (!before) return tl::unexpected(before.error());
    std::vector<Element> elements;
    elements.reserve(patch.size());
    for (const Value& item : patch) {
      const auto key = keys_.Of(item);
      if (!key) return tl::unexpected(key.error());
      elements.push_back({.value = item, .in_object = before->Find(*key)});
    }
    return elements;
  }

  // Merges lists of scalars. Each value occurs once in the result.
  Elements MergeScalars(Array list, const Array& patch) const {
    const auto first = keys_.FirstPlaces(list);
    if (!first) return tl::unexpected(first.error());
    const auto named = keys_.IndexOf(patch);
    if (!named) return tl::unexpected(named.error());
    std::vector<Element> elements;
    elements.reserve(list.size() + patch.size());
    std::vector<bool> there(patch.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if ((*first)[i] != i) continue;
      const size_t in_patch = named->Find(*keys_.Of(list[i]));
      if (in_patch != kNowhere) there[in_patch] = true;
      elements.push_back({.value = std::move(list[i]), .in_object = i, .in_patch = in_patch});
    }
    for (size_t i = 0; i < patch.size(); ++i) {
      if (there[i] || named->Find(*keys_.Of(patch[i])) != i) continue;
      elements.push_back({.value = patch[i], .in_patch = i});
    }
    return elements;
  }

  // Removes from the list what the patch deletes, and collects the elements of the patch that
  // are not directives in `plain`. If they replace the list, the list becomes them and
  // `plain` stays empty.
  Status FollowDirectives(Array& list, const Array& patch, std::vector<const Value*>& plain) const {
    KeyIndex deleted;
    bool deletes = false;
    bool replaces = false;
    for (const Value& element : patch) {
      const Object& map = *element.AsObject();
      const Value* directive = map.Find(kPatch);
      if (directive == nullptr) {
        plain.push_back(&element);
        continue;
      }
      const std::string_view what = codec::Text(directive);
      if (what == "replace") {
        replaces = true;
      } else if (what == "delete") {
        const auto key = keys_.Of(element);
        if (!key) return tl::unexpected(key.error());
        deleted.Add(*key, 0);
        deletes = true;
      } else if (what == "merge") {
        return Unmergeable("merging lists cannot yet be specified in the patch");
      } else {
        return UnknownDirective(*directive, map);
      }
    }
    if (replaces) {
      list.clear();
      for (const Value* element : std::exchange(plain, {})) list.push_back(*element);
    } else if (deletes) {
      std::erase_if(list, [&](const Value& element) {
        const auto key = keys_.Of(element);
        return key && deleted.Find(*key) != kNowhere;
      });
    }
    return {};
  }

  Elements MergeMaps(Array list, const std::vector<const Value*>& patch) const {
    KeyIndex named;
    for (size_t i = 0; i < patch.size(); ++i) {
      const auto key = keys_.Of(*patch[i]);
      if (!key) return tl::unexpected(key.error());
      named.Add(*key, i);
    }
    const auto first = keys_.FirstPlaces(list);
    if (!first) return tl::unexpected(first.error());
    std::vector<Element> elements;
    elements.reserve(list.size() + patch.size());
    std::vector<size_t> target(patch.size(), kNowhere);  // The target of each patch element.
    for (size_t i = 0; i < list.size(); ++i) {
      const size_t in_patch = named.Find(*keys_.Of(list[i]));
      if (in_patch != kNowhere && target[in_patch] == kNowhere) target[in_patch] = i;
      elements.push_back(
          {.value = std::move(list[i]), .in_object = (*first)[i], .in_patch = in_patch});
    }
    for (const Value* change : patch) {
      const size_t in_patch = named.Find(*keys_.Of(*change));
      if (target[in_patch] == kNowhere) {
        target[in_patch] = elements.size();
        elements.push_back({.value = *change, .in_patch = in_patch});
        continue;
      }
      Object& map = *elements[target[in_patch]].value.AsObject();
      if (auto done = MergeMap({map, field_.message}, *change->AsObject()); !done) {
        return tl::unexpected(std::move(done.error()));
      }
    }
    return elements;
  }

  const api::Field& field_;
  const ElementKeys keys_;
  const bool merges_;
};

// Checks that the elements of a patched list are in the requested order, and
// that the order names all.
Status CheckOrder(const Array& patch, const Array& order, const ElementKeys& keys) {
  if (patch.empty() || order.empty()) return {};
  size_t place = 0;
  for (const Value& element : patch) {
    if (keys.OfMaps() && element.AsObject() == nullptr) return NotA(Kind::kObject, element);
    const Value* directive = element.Find(kPatch);
    if (keys.OfMaps() && codec::Text(directive) == "delete") continue;
    if (directive != nullptr && place < order.size()) continue;
    for (bool found = false; !found; ++place) {
      if (place == order.size()) {
        return Unmergeable(
            fmt::format("The order in patch list:\n{}\n doesn't match {} list:\n{}\n",
                        GoText(patch), kSetElementOrder, GoText(order)));
      }
      const auto wanted = keys.Of(element);
      if (!wanted) return tl::unexpected(wanted.error());
      const auto next = keys.Of(order[place]);
      if (!next) return tl::unexpected(next.error());
      found = *wanted == *next;
    }
  }
  return {};
}

// Merges one map of the object with its patch.
class MapMerge {
 public:
  MapMerge(const Target& target, const Object& patch) : target_(target), patch_(patch) {}

  Status Run() {
    if (const Value* directive = patch_.Find(kPatch)) return FollowDirective(*directive);
    if (auto done = RetainKeys(); !done) return done;
    for (const Member& member : patch_) {
      if (!member.key.starts_with(kSetElementOrder)) continue;
      if (auto done = SetElementOrder(member); !done) return done;
    }
    // Deletions come before additions, whatever their order in the text.
    for (const Member& member : patch_) {
      if (!member.key.starts_with(kDeleteFromPrimitiveList)) continue;
      if (auto done = DeleteFromList(member); !done) return done;
    }
    for (const Member& member : patch_) {
      if (auto done = MergeMember(member); !done) return done;
    }
    if (!dropped_.empty()) {
      target_.map.EraseIf([&](const Member& member) { return dropped_.contains(member.key); });
    }
    return {};
  }

 private:
  Status FollowDirective(const Value& directive) {
    const std::string_view what = codec::Text(&directive);
    if (what != "delete" && what != "replace") return UnknownDirective(directive, patch_);
    target_.map = what == "delete" ? Object() : patch_;
    target_.map.Erase(kPatch);
    return {};
  }

  Status RetainKeys() {
    const Value* directive = patch_.Find(kRetainKeys);
    if (directive == nullptr) return {};
    if (directive->AsArray() == nullptr) return BadPatch(std::string(kBadRetainKeys));
    const std::set<std::string_view> retained = codec::TextSet(*directive->AsArray());
    for (const Member& member : patch_) {
      const bool is_free = member.value.IsNull() || member.key == kRetainKeys ||
                           member.key.starts_with(kSetElementOrder) ||
                           member.key.starts_with(kDeleteFromPrimitiveList);
      if (!is_free && !retained.contains(member.key)) return BadPatch(std::string(kBadRetainKeys));
    }
    target_.map.EraseIf([&](const Member& member) { return !retained.contains(member.key); });
    return {};
  }

  Status SetElementOrder(const Member& directive) {
    const Array* order = directive.value.AsArray();
    if (order == nullptr) return NotA(Kind::kArray, directive.value);
    const auto name = ListOf(directive.key, kSetElementOrder);
    if (!name) return BadPatch(std::string(kBadOrder));
    Value* value = target_.map.Find(*name);
    const Value* change = patch_.Find(*name);
    if (value != nullptr && value->AsArray() == nullptr) return NotA(Kind::kArray, *value);
    if (change != nullptr && change->AsArray() == nullptr) return NotA(Kind::kArray, *change);
    const auto field = ListFieldOf(target_, *name);
    if (!field) return tl::unexpected(field.error());
    const StrategicListMerge merge(**field);
    static const Array none;
    const Array& changes = change == nullptr ? none : *change->AsArray();
    if (auto done = CheckOrder(changes, *order, merge.Keys()); !done) return done;
    if (value == nullptr && change == nullptr) return {};
    const auto kind = CommonKind(value == nullptr ? none : *value->AsArray(), changes);
    if (!kind) return tl::unexpected(kind.error());
    if (!*kind) return Unmergeable("no elements in any of the given slices");
    auto list = ElementsOf(value, change, merge).and_then([&](std::vector<Element> elements) {
      return Reordered(std::move(elements), *order, merge.Keys());
    });
    if (!list) return tl::unexpected(std::move(list.error()));
    target_.map.Set(std::string(*name), ValuesOf(*std::move(list)));
    done_.push_back(*name);
    return {};
  }

  // Returns the elements to be ordered: those of the list, of the patch, or of both merged.
  static Elements ElementsOf(Value* value, const Value* change, const StrategicListMerge& merge) {
    std::vector<Element> elements;
    if (value == nullptr) {
      Value taken = Taken(*change, Nulls::kKeep).value_or(Array());
      for (Value& item : *taken.AsArray()) elements.push_back({.value = std::move(item)});
      return elements;
    }
    Array list = std::move(*value->AsArray());
    if (change != nullptr) return merge.Merge(std::move(list), *change->AsArray());
    const auto first = merge.Keys().FirstPlaces(list);
    if (!first) return tl::unexpected(first.error());
    for (size_t i = 0; i < list.size(); ++i) {
      elements.push_back({.value = std::move(list[i]), .in_object = (*first)[i]});
    }
    return elements;
  }

  static Elements Reordered(std::vector<Element> elements, const Array& order,
                            const ElementKeys& keys) {
    const auto named = keys.IndexOf(order);
    if (!named) return tl::unexpected(named.error());
    for (Element& element : elements) {
      const auto key = keys.Of(element.value);
      if (!key) return tl::unexpected(key.error());
      element.in_patch = named->Find(*key);
    }
    return Arranged(std::move(elements));
  }

  Status MergeMember(const Member& member) {
    if (member.key == kRetainKeys || member.key.starts_with(kSetElementOrder) ||
        member.key.starts_with(kDeleteFromPrimitiveList) ||
        std::find(done_.begin(), done_.end(), member.key) != done_.end()) {
      return {};
    }
    Value* value = target_.map.Find(member.key);
    if (member.value.IsNull()) {
      if (value != nullptr) dropped_.insert(member.key);
      return {};
    }
    if (value == nullptr || TypeOf(*value) != TypeOf(member.value)) {
      auto taken = Taken(member.value, Nulls::kDiscard);
      if (taken) {
        target_.map.Set(member.key, *std::move(taken));
      } else if (value != nullptr) {
        dropped_.insert(member.key);
      }
      return {};
    }
    if (Object* map = value->AsObject()) {
      const auto field = FieldOf(target_, member.key);
      if (!field) return tl::unexpected(field.error());
      return MergeMap({*map, (*field)->message}, *member.value.AsObject());
    }
    if (Array* list = value->AsArray()) return MergeList(*list, member);
    *value = member.value;
    return {};
  }

  Status MergeList(Array& list, const Member& member) {
    const auto field = ListFieldOf(target_, member.key);
    if (!field) return tl::unexpected(field.error());
    const StrategicListMerge merge(**field);
    if (!merge.Merges()) {
      list = *member.value.AsArray();
      return {};
    }
    auto elements = merge.Merge(std::move(list), *member.value.AsArray());
    if (!elements) return tl::unexpected(std::move(elements.error()));
    list = ValuesOf(*std::move(elements));
    return {};
  }

  Status DeleteFromList(const Member& directive) {
    const auto name = ListOf(directive.key, kDeleteFromPrimitiveList);
    const Array* deleted = directive.value.AsArray();
    if (!name || deleted == nullptr) return BadPatch(std::string(kBadDeletion));
    Value* value = target_.map.Find(*name);
    Array* list = value == nullptr ? nullptr : value->AsArray();
    if (list == nullptr) return {};
    const auto kind = CommonKind(*list, *deleted);
    if (!kind) return tl::unexpected(kind.error());
    if (*kind == Kind::kObject) return BadPatch(std::string(kBadDeletion));
    const auto index = ElementKeys("").IndexOf(*deleted);
    if (!index) return tl::unexpected(index.error());
    std::erase_if(*list, [&](const Value& v) { return index->Find(*KeyOf(v)) != kNowhere; });
    return {};
  }

  const Target target_;
  const Object& patch_;
  std::vector<std::string_view> done_ = {};  // Lists that are already merged.
  std::set<std::string_view> dropped_ = {};  // Members to delete, all at once at the end.
};

Status MergeMap(const Target& target, const Object& patch) { return MapMerge(target, patch).Run(); }

}  // namespace

Status ApplyStrategicMerge(Value& document, const Value& patch, const api::Message& message) {
  Object* map = document.AsObject();
  const Object* changes = patch.AsObject();
  if (map == nullptr || changes == nullptr) return BadPatch("invalid JSON document");
  return MergeMap({*map, &message}, *changes);
}

}  // namespace berth::merge
