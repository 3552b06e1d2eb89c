// One API object as the picture holds it: its key, the revision of its last write and its wire
// JSON, all in one allocation. The JSON is kept without its revision: head + digits + tail is the
// whole text, so that a deletion can show the last state with the deletion's revision without a
// copy.
//
// Immutable and shared: safe from any thread. Labels, fields and the like are decoded by whoever
// needs them; what lists and watches filter by without decoding (resource, namespace, name) is
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace berth::state {

/// An object's wire JSON with an empty `metadata.resourceVersion`, and where its parts are.
struct WireText {
  std::string text = {};
  /// Where `"metadata":` begins, behind kind and apiVersion, which the items of a list leave out.
  size_t metadata_at = 0;
  /// Between the quotes of `"resourceVersion":""`: where the digits go.
  size_t version_at = 0;
};

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

/// What an object is, apart from what it holds.
struct Identity {
  uint16_t resource = 0;  // Its place in state::Resources, below 32,768.
  std::string_view key = {};
  /// The key behind the resource's prefix is `<namespace>/<name>`, or `<name>`.
  size_t prefix_size = 0;
  bool namespaced = false;
};

class Object {
  struct Private {};

 public:
  /// `revision` 0: it has none yet (dry-run). The key is one that state::Resources has found.
  static ObjectPtr Make(const Identity& identity, int64_t revision, const WireText& wire);

  Object(Private /*only_make*/, const Identity& identity, int64_t revision, const WireText& wire);
  ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  uint16_t Resource() const { return resource_; }
  int64_t Revision() const { return revision_; }
  std::string_view Key() const { return {Tail(), key_size_}; }
  /// Empty for objects without one.
  std::string_view Namespace() const;
  std::string_view Name() const { return Key().substr(name_at_); }

  /// The whole JSON, as a GET answers it.
  void AppendJson(std::string& out) const { AppendJson(out, revision_); }
  /// With another revision (of a deletion). 0 leaves `resourceVersion` out (dry-run of a create).
  void AppendJson(std::string& out, int64_t revision) const;
  /// As an item of a list: without kind and apiVersion.
  void AppendListItem(std::string& out) const;

  /// The pieces, for who sends without copying: the JSON is JsonHead() + the revision's digits +
  /// JsonTail(), a list item "{" + ListHead() + digits + JsonTail(). Valid as long as the object.
  std::string_view JsonHead() const { return Text().substr(0, version_at_); }
  std::string_view ListHead() const { return JsonHead().substr(metadata_at_); }
  std::string_view JsonTail() const { return Text().substr(version_at_); }

  /// The JSON with an empty resourceVersion, for decoding.
  std::string_view Text() const { return {Tail() + key_size_, text_size_}; }

  /// What it takes in memory, roughly.
  size_t Bytes() const;

 private:
  /// Key and text follow the object in its allocation.
  const char* Tail() const { return reinterpret_cast<const char*>(this + 1); }

  // 24 bytes, because there are many. Keys and what comes before the metadata are short.
  int64_t revision_ = 0;
  uint32_t text_size_ = 0;
  uint32_t version_at_ = 0;
  uint16_t metadata_at_ = 0;
  uint16_t key_size_ = 0;
  uint16_t name_at_ = 0;
  uint16_t resource_ : 15 = 0;
  bool namespaced_ : 1 = false;
};

}  // namespace berth::state
