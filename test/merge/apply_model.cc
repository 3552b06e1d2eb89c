#include "merge/apply_model.h"

#include <algorithm>

#include "codec/json.h"
#include "codec/read.h"

namespace berth::merge::model {
namespace {

using codec::Value;

bool StartsWith(const Path& path, const Path& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

Path Append(Path path, std::string element) {
  path.push_back(std::move(element));
  return path;
}

// Returns JSON with sorted keys, so that equal values have equal texts.
std::string SortedJson(const Value& value) {
  std::string text;
  if (const codec::Array* array = value.AsArray()) {
    for (const Value& item : *array) text += (text.empty() ? "" : ",") + SortedJson(item);
    return "[" + text + "]";
  }
  if (const codec::Object* object = value.AsObject()) {
    std::map<std::string, std::string> members;
    for (const codec::Member& member : *object) members[member.key] = SortedJson(member.value);
    for (const auto& [key, json] : members) {
      text += (text.empty() ? "" : ",") + codec::WriteJson(Value(key)) + ":" + json;
    }
    return "{" + text + "}";
  }
  return codec::WriteJson(value);
}

bool IsEntry(const Path& path) { return path.back()[0] == 'k' || path.back()[0] == 'v'; }
bool IsTwice(const std::string& node) { return node.starts_with("twice:"); }

class Flattener {
 public:
  explicit Flattener(Flat& flat) : flat_(flat) {}

  void Members(const Path& path, const Value& value, const api::Message& message) {
    for (const codec::Member& member : *value.AsObject()) {
      const api::Field* field = message.Find(member.key);
      if (field != nullptr) Field(Append(path, "f:" + member.key), member.value, *field);
    }
  }

 private:
  void Field(const Path& path, const Value& value, const api::Field& field) {
    switch (field.shape) {
      case api::Shape::kOne:
        One(path, value, field);
        return;
      case api::Shape::kMap:
        if (field.atomic) {
          flat_.nodes[path] = "=" + SortedJson(value);
        } else if (Container(path, value)) {
          for (const codec::Member& member : *value.AsObject()) {
            flat_.nodes[Append(path, "f:" + member.key)] = "=" + SortedJson(member.value);
          }
        }
        return;
      case api::Shape::kList:
        if (field.list_kind == api::ListKind::kAtomic) {
          flat_.nodes[path] = "=" + SortedJson(value);
        } else if (Container(path, value)) {
          List(path, value, field);
        }
        return;
    }
  }

  void One(const Path& path, const Value& value, const api::Field& field) {
    if (field.type != api::Type::kMessage || field.message->atomic) {
      flat_.nodes[path] = "=" + SortedJson(value);
    } else if (Container(path, value)) {
      Members(path, value, *field.message);
    }
  }

  // Adds a container. Returns whether it has contents.
  bool Container(const Path& path, const Value& value) {
    const std::string json = SortedJson(value);
    const bool empty = json == "null" || json == "{}" || json == "[]";
    flat_.nodes[path] = empty ? json : "+";
    return !empty;
  }

  void List(const Path& path, const Value& value, const api::Field& field) {
    std::map<std::string, std::vector<Value>> entries;
    for (const Value& entry : *value.AsArray()) {
      const std::string element = ElementOf(field, entry);
      flat_.order[path].push_back(element);
      entries[element].push_back(entry);
    }
    for (const auto& [element, values] : entries) {
      if (values.size() == 1) {
        One(Append(path, element), values.front(), field);
      } else {
        flat_.nodes[Append(path, element)] = "twice:" + SortedJson(Value(codec::Array(values)));
      }
    }
  }

  Flat& flat_;
};

Value Build(const Flat& flat, const Path& path) {
  const std::string& node = flat.nodes.at(path);
  if (node[0] == '=') return *codec::ParseJson(node.substr(1));
  if (node != "+") return *codec::ParseJson(node);
  if (const auto list = flat.order.find(path); list != flat.order.end()) {
    Value array = codec::Array();
    std::map<std::string, size_t> taken;
    for (const std::string& element : list->second) {
      const Path entry = Append(path, element);
      const std::string& text = flat.nodes.at(entry);
      array.Append(IsTwice(text) ? (*codec::ParseJson(text.substr(6))->AsArray())[taken[element]++]
                                 : Build(flat, entry));
    }
    return array;
  }
  Value object = codec::Object();
  for (const auto& [other, text] : flat.nodes) {
    if (other.size() == path.size() + 1 && StartsWith(other, path)) {
      object.Set(other.back().substr(2), Build(flat, other));
    }
  }
  return object;
}

// Returns what a document mentions: its leaves, its entries, and empty values except lists. An
// entry that has lost all its contents has lost its keys too, so it cannot be identified.
Paths FieldsOf(const Flat& flat) {
  Paths paths;
  for (const auto& [path, node] : flat.nodes) {
    if (IsEntry(path) && node == "null") {
      Path nameless = path;
      nameless.back() = "k:?";
      paths.insert(nameless);
    } else if (IsEntry(path) || (node != "+" && node != "[]")) {
      paths.insert(path);
    }
  }
  return paths;
}

// Adds the structs and lists on the path to each of them.
Paths Named(const Paths& paths) {
  Paths named = paths;
  for (Path path : paths) {
    for (path.pop_back(); !path.empty(); path.pop_back()) {
      if (!IsEntry(path)) named.insert(path);
    }
  }
  return named;
}

Paths Minus(const Paths& a, const Paths& b) {
  Paths rest;
  for (const Path& path : a) {
    if (!b.contains(path)) rest.insert(path);
  }
  return rest;
}

Paths And(const Paths& a, const Paths& b) { return Minus(a, Minus(a, b)); }

Paths Or(Paths a, const Paths& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Flat Remove(Flat flat, const Paths& paths) {
  const auto is_removed = [&](const Path& at) {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const Path& path) { return StartsWith(at, path); });
  };
  std::erase_if(flat.nodes, [&](const auto& node) { return is_removed(node.first); });
  std::erase_if(flat.order, [&](const auto& list) { return is_removed(list.first); });
  for (auto& [path, elements] : flat.order) {
    std::erase_if(elements, [&, &at = path](const std::string& element) {
      return !flat.nodes.contains(Append(at, element));
    });
  }
  for (auto& [path, node] : flat.nodes) {
    const auto is_inside = [&, &at = path](const Path& other) {
      return other.size() > at.size() && StartsWith(other, at);
    };
    const bool cut = std::any_of(paths.begin(), paths.end(), is_inside);
    const bool has = std::any_of(flat.nodes.begin(), flat.nodes.end(),
                                 [&](const auto& other) { return is_inside(other.first); });
    if (cut && !has && node[0] != '=') node = "null";
  }
  std::erase_if(flat.order, [&](const auto& list) { return list.second.empty(); });
  return flat;
}

// Merges with two cursors. The cursor of the live list advances over elements that only the live
// list has, and waits at the next element that both have. Elements that are out of order wait for
// their turn in the config.
std::vector<std::string> MergeOrder(const std::vector<std::string>& live,
                                    std::vector<std::string> config) {
  const auto has = [](const std::vector<std::string>& list, const std::string& element) {
    return std::find(list.begin(), list.end(), element) != list.end();
  };
  const std::vector<std::string> all = config;
  std::vector<std::string> merged;
  size_t at = 0;
  while (at < live.size() || !config.empty()) {
    const auto next_shared = std::find_if(config.begin(), config.end(),
                                          [&](const std::string& e) { return has(live, e); });
    if (at < live.size() && !has(all, live[at])) {
      merged.push_back(live[at++]);
    } else if (at < live.size() && (next_shared == config.end() || *next_shared != live[at])) {
      ++at;
    } else {
      if (at < live.size() && config.front() == live[at]) ++at;
      merged.push_back(config.front());
      config.erase(config.begin());
    }
  }
  return merged;
}

Flat Merge(const Flat& live, const Flat& config) {
  Flat merged = live;
  for (const auto& [path, node] : config.nodes) {
    const auto at = merged.nodes.find(path);
    const bool parts = at != merged.nodes.end() && at->second == "+" && node[0] != '=';
    if (!parts) merged.nodes[path] = node;
  }
  for (const auto& [path, elements] : config.order) {
    const auto at = live.order.find(path);
    merged.order[path] = at == live.order.end() ? elements : MergeOrder(at->second, elements);
  }
  return merged;
}

struct Difference {
  Paths changed;
  Paths removed;
};

Difference Compare(const Flat& before, const Flat& after, const Write& write) {
  Difference difference;
  for (const auto& [path, node] : after.nodes) {
    const auto old = before.nodes.find(path);
    if (old == before.nodes.end()) {
      difference.changed.insert(path);
    } else if (IsTwice(node) != IsTwice(old->second)) {
      difference.changed.insert(path);
      difference.removed.insert(path);
    } else if (node != old->second && node != "+" && old->second != "+") {
      difference.changed.insert(path);
    }
  }
  for (const auto& [path, node] : before.nodes) {
    if (!after.nodes.contains(path)) difference.removed.insert(path);
  }
  const auto is_reset = [&](const Path& path) {
    const bool status = write.subresource == "status";
    // The server owns the status even where clients cannot write it, as with a NodePort.
    if (write.kind.message->Find("status") == nullptr) return false;
    const bool only_status =
        write.kind.kind == "ServiceCIDR" || write.kind.group == "allocation.berth.io";
    return path[0] == (status ? "f:spec" : "f:status") ||
           (status && only_status && path[0] == "f:metadata");
  };
  std::erase_if(difference.changed, is_reset);
  std::erase_if(difference.removed, is_reset);
  return difference;
}

Paths Owned(const Paths& paths) {
  Paths owned;
  for (const Path& path : paths) {
    static const std::set<std::string> unowned = {
        "f:name",        "f:namespace",  "f:creationTimestamp", "f:selfLink",       "f:uid",
        "f:clusterName", "f:generation", "f:managedFields",     "f:resourceVersion"};
    const bool in_metadata = path[0] == "f:metadata" && path.size() <= 2;
    if (!in_metadata || (path.size() == 2 && !unowned.contains(path[1]))) owned.insert(path);
  }
  return owned;
}

void ParseFields(const Value& value, const Path& path, Paths& paths) {
  const codec::Object& object = *value.AsObject();
  if (!path.empty() && (object.empty() || object.Find(".") != nullptr)) paths.insert(path);
  for (const codec::Member& member : object) {
    if (member.key != ".") ParseFields(member.value, Append(path, member.key), paths);
  }
}

void MergeOldest(Managers& managers) {
  while (true) {
    std::vector<ManagerKey> updaters;
    for (const auto& [key, manager] : managers) {
      if (std::get<0>(key) == "Update") updaters.push_back(key);
    }
    if (updaters.size() <= 10) return;
    std::stable_sort(updaters.begin(), updaters.end(), [&](const auto& a, const auto& b) {
      return managers[a].time < managers[b].time;
    });
    Manager merged{.time = managers[updaters[1]].time,
                   .fields = Or(managers[updaters[0]].fields, managers[updaters[1]].fields)};
    managers.erase(updaters[0]);
    managers.erase(updaters[1]);
    managers[{"Update", "ancient-changes", std::get<2>(updaters[0]), ""}] = merged;
  }
}

}  // namespace

Flat Flatten(const Value& document, const api::Message& message) {
  Flat flat;
  if (document.AsObject() != nullptr) Flattener(flat).Members({}, document, message);
  return flat;
}

Value Unflatten(const Flat& flat) {
  Value object = codec::Object();
  for (const auto& [path, node] : flat.nodes) {
    if (path.size() == 1) object.Set(path[0].substr(2), Build(flat, path));
  }
  return object;
}

std::string ElementOf(const api::Field& list, const Value& entry) {
  if (list.list_kind == api::ListKind::kSet) return "v:" + SortedJson(entry);
  std::string text;
  for (const api::ListKey& key : list.list_keys) {
    const Value* value = entry.Find(key.name);
    if (value == nullptr && key.default_text.empty()) continue;
    text += (text.empty() ? "" : ",") + codec::WriteJson(Value(key.name)) + ":" +
            (value == nullptr ? std::string(key.default_text) : SortedJson(*value));
  }
  return "k:{" + text + "}";
}

Managers ManagersOf(const Value& object) {
  Managers managers;
  for (const Value& entry : codec::ArrayAt(object, "metadata", "managedFields")) {
    const std::string operation(codec::StringAt(entry, "operation"));
    const ManagerKey key{
        operation, std::string(codec::StringAt(entry, "manager")),
        std::string(operation == "Apply" ? "" : codec::StringAt(entry, "apiVersion")),
        std::string(codec::StringAt(entry, "subresource"))};
    Manager& manager = managers[key];
    manager.time = codec::StringAt(entry, "time");
    ParseFields(*codec::ParseJson(codec::StringAt(entry, "fieldsV1")), {}, manager.fields);
  }
  return managers;
}

Applied Apply(const Write& write, bool force, const Flat& live, const Flat& config,
              const Managers& managers) {
  Applied applied{.document = {}, .managers = managers, .conflicts = {}};
  const ManagerKey self{"Apply", write.manager, "", write.subresource};
  Paths last;
  if (managers.contains(self)) last = managers.at(self).fields;
  Manager& own = applied.managers[self];
  own.fields = FieldsOf(config);
  const Difference everything = Compare({}, config, write);
  own.fields = And(own.fields, everything.changed);  // Without what this endpoint cannot write.

  Paths owned;
  for (const auto& [key, manager] : applied.managers) owned = Or(owned, manager.fields);
  const Flat merged = Merge(live, config);
  const Paths all = Named(FieldsOf(merged));
  const Flat without_last = Remove(merged, Named(last));
  const Paths kept = Or(Named(FieldsOf(without_last)), Named(owned));
  const Flat without_unowned = Remove(merged, Minus(all, kept));
  const Paths gone = Minus(all, Named(FieldsOf(without_unowned)));
  applied.document = Remove(merged, And(gone, Named(last)));

  const Difference difference = Compare(live, applied.document, write);
  for (auto& [key, manager] : applied.managers) {
    if (key == self) continue;
    for (const Path& path : And(manager.fields, difference.changed)) {
      if (!force) applied.conflicts.insert({key, path});
    }
    manager.fields = Minus(Minus(manager.fields, difference.changed), difference.removed);
  }
  if (applied.document != live) own.time = write.time;
  own.fields = Owned(own.fields);
  std::erase_if(applied.managers, [](const auto& entry) { return entry.second.fields.empty(); });
  return applied;
}

Managers Update(const Write& write, const Flat& before, const Flat& after, Managers managers) {
  const Difference difference = Compare(before, after, write);
  for (auto& [key, manager] : managers) {
    manager.fields = Minus(Minus(manager.fields, difference.changed), difference.removed);
  }
  const Paths taken = Owned(difference.changed);
  if (!taken.empty()) {
    Manager& own =
        managers[{"Update", write.manager, std::string(write.kind.api_version), write.subresource}];
    own = {.time = write.time, .fields = Or(own.fields, taken)};
  }
  std::erase_if(managers, [](const auto& entry) { return entry.second.fields.empty(); });
  MergeOldest(managers);
  return managers;
}

}  // namespace berth::merge::model
