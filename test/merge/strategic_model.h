// A plain implementation of strategic merge by its documented rules; see patch_model.h.
//
//   - Maps are merged. Null deletes. A value of another type, or of a field that the object lacks,
//     is
//     copied without nulls and without maps that have a "$patch".
//   - Lists are replaced or merged. In a merge, maps with equal merge keys are one element, and
//     values are sets.
//   - The order of a merged list comes from two rows: the elements that the patch names, in the
//     patch's order, and the others, in the object's order. Of the two front elements, the other
//     one
//     comes first only if the object had both and had it first.
//   - $setElementOrder orders the result in the same way, with its own list of names.
#pragma once

#include "merge/patch_model.h"

namespace model {

inline const Value* Member(const Value& map, std::string_view name) {
  return IsMap(map) ? map.AsObject()->Find(name) : nullptr;
}

inline bool Is(const Value* value, std::string_view text) {
  return value != nullptr && value->AsString() != nullptr && *value->AsString() == text;
}

inline bool SameType(const Value& a, const Value& b) {
  const auto type = [](const Value& v) {
    return v.GetKind() == Kind::kUint ? Kind::kDouble : v.GetKind();
  };
  return type(a) == type(b);
}

inline std::optional<Value> Taken(const Value& patch, bool without_nulls) {
  if (IsList(patch)) {
    Array list;
    for (const Value& item : *patch.AsArray()) {
      if (const auto taken = Taken(item, without_nulls)) list.push_back(*taken);
    }
    return list;
  }
  if (!IsMap(patch)) return patch;
  if (Member(patch, "$patch") != nullptr) return std::nullopt;
  Map map;
  for (const auto& [key, value] : MapOf(patch)) {
    if (value.IsNull() && without_nulls) continue;
    if (const auto taken = Taken(value, without_nulls)) map[key] = *taken;
  }
  return ValueOf(map);
}

// Finds elements of lists by a merge key, or by the whole element if the key is "".
struct List {
  std::string key;

  // Returns nullopt if the element has no key. Keys are scalars.
  std::optional<Value> KeyOf(const Value& element) const {
    if (!key.empty() && Member(element, key) == nullptr) return std::nullopt;
    const Value found = key.empty() ? element : *Member(element, key);
    if (IsMap(found) || IsList(found) || found.IsNull()) return std::nullopt;
    return found;
  }

  std::optional<size_t> Find(const Array& list, const Value& element) const {
    for (size_t i = 0; i < list.size(); ++i) {
      if (KeyOf(list[i]) == KeyOf(element)) return i;
    }
    return std::nullopt;
  }

  bool AllHaveKeys(const Array& list) const {
    return std::all_of(list.begin(), list.end(),
                       [&](const Value& element) { return KeyOf(element).has_value(); });
  }

  // Returns the elements of `list` that are (not) in `names`, in the order of `order`.
  Array Row(const Array& list, const Array& names, bool in, const Array& order) const {
    Array row;
    for (const Value& element : list) {
      if (Find(names, element).has_value() == in) row.push_back(element);
    }
    std::stable_sort(row.begin(), row.end(), [&](const Value& a, const Value& b) {
      return Find(order, a).value_or(SIZE_MAX) < Find(order, b).value_or(SIZE_MAX);
    });
    return row;
  }

  Array InOrder(const Array& list, const Array& names, const Array& object) const {
    Array named = Row(list, names, true, names);
    Array others = Row(list, names, false, object);
    Array result;
    while (!named.empty() || !others.empty()) {
      bool other = named.empty();
      if (!named.empty() && !others.empty()) {
        const auto a = Find(object, others.front());
        const auto b = Find(object, named.front());
        other = a.has_value() && b.has_value() && *a < *b;
      }
      Array& row = other ? others : named;
      result.push_back(row.front());
      row.erase(row.begin());
    }
    return result;
  }
};

inline bool OneType(Array list, const Array& more) {
  list.insert(list.end(), more.begin(), more.end());
  return std::all_of(list.begin(), list.end(), [&](const Value& element) {
    return SameType(element, list.front()) && !IsList(element) && !element.IsNull();
  });
}

inline std::optional<Value> Strategic(const Value& object, const Value& patch, const Message* m);

// The object's list after the patch's directives were applied, and the remaining patch.
struct Directed {
  Array list;
  Array patch;
};

inline std::optional<Directed> Follow(const List& rule, const Array& list, const Array& patch) {
  Directed result{.list = list, .patch = {}};
  bool replace = false;
  for (const Value& element : patch) {
    const Value* directive = Member(element, "$patch");
    if (directive == nullptr) {
      result.patch.push_back(element);
    } else if (Is(directive, "replace")) {
      replace = true;
    } else if (Is(directive, "delete") && rule.KeyOf(element)) {
      std::erase_if(result.list,
                    [&](const Value& old) { return rule.KeyOf(old) == rule.KeyOf(element); });
    } else {
      return std::nullopt;
    }
  }
  if (replace) return Directed{.list = result.patch, .patch = {}};
  return result;
}

struct MergedList {
  Array list;
  Array object;  // The object's list without deleted elements, for its order.
};

inline std::optional<MergedList> MergeLists(const Field& field, const Array& list,
                                            const Array& patch) {
  const List rule{std::string(field.patch_merge_key)};
  if (field.patch_strategy != "merge") return MergedList{.list = patch, .object = list};
  if (!OneType(list, patch)) return std::nullopt;
  Directed now{.list = list, .patch = patch};
  if (!rule.key.empty()) {
    const auto directed = Follow(rule, list, patch);
    if (!directed) return std::nullopt;
    now = *directed;
  }
  if (!rule.AllHaveKeys(now.list) || !rule.AllHaveKeys(now.patch)) return std::nullopt;
  Array merged;
  for (const Value& element : now.list) {
    // Lists of values are sets.
    if (!rule.key.empty() || !rule.Find(merged, element)) merged.push_back(element);
  }
  for (const Value& element : now.patch) {
    const auto place = rule.Find(merged, element);
    if (!place) {
      merged.push_back(element);
    } else if (!rule.key.empty()) {
      const auto both = Strategic(merged[*place], element, field.message);
      if (!both) return std::nullopt;
      merged[*place] = *both;
    }
  }
  return MergedList{.list = rule.InOrder(merged, now.patch, now.list), .object = now.list};
}

// Returns whether all elements of a patch appear in `order`, in that order.
inline bool Follows(const List& rule, const Array& patch, const Array& order) {
  if (patch.empty() || order.empty()) return true;
  size_t next = 0;
  for (const Value& element : patch) {
    if (!rule.key.empty() && !IsMap(element)) return false;
    if (!rule.key.empty() && Is(Member(element, "$patch"), "delete")) continue;
    if (next == order.size()) return false;
    if (Member(element, "$patch") != nullptr) continue;
    if (!rule.KeyOf(element)) return false;
    while (next < order.size() && rule.KeyOf(order[next]) != rule.KeyOf(element)) ++next;
    if (next++ >= order.size()) return false;
  }
  return true;
}

inline std::optional<Array> Ordered(const Field& field, const Value* list, const Value* patch,
                                    const Value& order) {
  const List rule{std::string(field.patch_merge_key)};
  if (list != nullptr && !IsList(*list)) return std::nullopt;
  if (patch != nullptr && !IsList(*patch)) return std::nullopt;
  const Array before = list == nullptr ? Array() : *list->AsArray();
  const Array changes = patch == nullptr ? Array() : *patch->AsArray();
  if (!OneType(before, changes) || (before.empty() && changes.empty())) return std::nullopt;
  MergedList merged{.list = before, .object = before};
  if (list == nullptr) {
    merged = {.list = *Taken(*patch, false)->AsArray(), .object = {}};
  } else if (patch != nullptr) {
    const auto both = MergeLists(field, before, changes);
    if (!both) return std::nullopt;
    merged = *both;
  }
  if (!rule.AllHaveKeys(merged.list) || !rule.AllHaveKeys(*order.AsArray()) ||
      !rule.AllHaveKeys(merged.object)) {
    return std::nullopt;
  }
  return rule.InOrder(merged.list, *order.AsArray(), merged.object);
}

// Returns the name of the list that follows "<directive>/", or nullopt.
inline std::optional<std::string> Named(const std::string& key, const std::string& directive) {
  if (!key.starts_with(directive + "/")) return std::nullopt;
  return key.substr(directive.size() + 1);
}

inline std::optional<Value> Strategic(const Value& object, const Value& patch, const Message* m) {
  static const std::string order = "$setElementOrder";
  static const std::string deletion = "$deleteFromPrimitiveList";
  Map map = MapOf(object);
  Map changes = MapOf(patch);
  const auto field_of = [&](const std::string& name) {
    return m == nullptr ? nullptr : m->Find(name);
  };
  if (changes.contains("$patch")) {
    const Value directive = changes["$patch"];
    changes.erase("$patch");
    if (Is(&directive, "delete")) return Object();
    return Is(&directive, "replace") ? std::optional(ValueOf(changes)) : std::nullopt;
  }
  if (changes.contains("$retainKeys")) {
    const Value keys = changes["$retainKeys"];
    changes.erase("$retainKeys");
    if (!IsList(keys)) return std::nullopt;
    const auto retained = [&](const std::string& key) {
      return std::find(keys.AsArray()->begin(), keys.AsArray()->end(), Value(key)) !=
             keys.AsArray()->end();
    };
    for (const auto& [key, value] : changes) {
      const bool free = value.IsNull() || key.starts_with(order) || key.starts_with(deletion);
      if (!free && !retained(key)) return std::nullopt;
    }
    std::erase_if(map, [&](const auto& member) { return !retained(member.first); });
  }
  for (const auto& [key, value] : Map(changes)) {
    if (!key.starts_with(order)) continue;
    const auto name = Named(key, order);
    const Field* field = name ? field_of(*name) : nullptr;
    if (!IsList(value) || field == nullptr || field->shape != Shape::kList) return std::nullopt;
    changes.erase(key);
    const Value* list = map.contains(*name) ? &map[*name] : nullptr;
    const Value* change = changes.contains(*name) ? &changes[*name] : nullptr;
    if (change != nullptr && !IsList(*change)) return std::nullopt;
    const List rule{std::string(field->patch_merge_key)};
    if (!Follows(rule, change == nullptr ? Array() : *change->AsArray(), *value.AsArray())) {
      return std::nullopt;
    }
    if (list == nullptr && change == nullptr) continue;
    const auto ordered = Ordered(*field, list, change, value);
    if (!ordered) return std::nullopt;
    map[*name] = *ordered;
    changes.erase(*name);
  }
  for (const auto& [key, value] : changes) {
    if (key.starts_with(deletion)) {
      const auto name = Named(key, deletion);
      if (!name || !IsList(value)) return std::nullopt;
      if (!map.contains(*name) || !IsList(map[*name])) continue;
      Array list = *map[*name].AsArray();
      const Array& values = *value.AsArray();
      if (!OneType(list, values)) return std::nullopt;
      if ((!list.empty() && IsMap(list[0])) || (!values.empty() && IsMap(values[0]))) {
        return std::nullopt;
      }
      std::erase_if(list, [&](const Value& each) {
        return std::find(values.begin(), values.end(), each) != values.end();
      });
      map[*name] = list;
    }
  }
  for (const auto& [key, value] : changes) {
    if (key.starts_with(deletion)) continue;
    if (value.IsNull()) {
      map.erase(key);
    } else if (!map.contains(key) || !SameType(map[key], value)) {
      map.erase(key);
      if (const auto taken = Taken(value, true)) map[key] = *taken;
    } else if (IsMap(value)) {
      const Field* field = field_of(key);
      if (field == nullptr) return std::nullopt;
      const auto both = Strategic(map[key], value, field->message);
      if (!both) return std::nullopt;
      map[key] = *both;
    } else if (IsList(value)) {
      const Field* field = field_of(key);
      if (field == nullptr || field->shape != Shape::kList) return std::nullopt;
      const auto both = MergeLists(*field, *map[key].AsArray(), *value.AsArray());
      if (!both) return std::nullopt;
      map[key] = both->list;
    } else {
      map[key] = value;
    }
  }
  return ValueOf(map);
}

}  // namespace model
