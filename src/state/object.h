// One API object as the picture holds it: its key, the revision of its last write and its wire
// JSON, all in one allocation. The JSON is kept without its revision, so that a deletion can show
// the last state with the deletion's revision, and without its managed fields: objects made alike
// have the same but for their times, and share them.
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

#include "state/shared_text.h"
#include "state/time_gaps.h"

namespace berth::state {

/// An object's wire JSON with an empty `metadata.resourceVersion`, and where its parts are.
struct WireText {
  std::string text = {};
  /// Where `"metadata":` begins, behind kind and apiVersion, which the items of a list leave out.
  size_t metadata_at = 0;
  /// Between the quotes of `"resourceVersion":""`: where the digits go.
  size_t version_at = 0;
  /// `,"managedFields":[...]`, behind the version; size 0: there are none.
  size_t managed_at = 0;
  size_t managed_size = 0;
  /// The object in protobuf if JSON does not show all of it (fields that a newer server knows);
  /// else empty.
  std::string protobuf = {};
  /// What goes with the object and no client sees; most have nothing.
  std::string hidden = {};
};

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

/// What an object is, apart from what it holds.
struct Identity {
  uint16_t resource = 0;  // Its place in state::Resources, below 4,096.
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

  Object(Private /*only_make*/, const Identity& identity, int64_t revision, const WireText& wire,
         const TextWithGaps& managed);
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

  /// At least as long as its JSON, and at most some bytes longer: a revision may have few digits.
  size_t JsonSize() const;

  /// The JSON with an empty resourceVersion and without `metadata.managedFields`: all there is to
  /// decode for questions that are not about these.
  std::string_view TextWithoutManagedFields() const { return {Tail() + key_size_, text_size_}; }

  /// As WireText::protobuf.
  std::string_view Protobuf() const;
  /// As WireText::hidden.
  std::string_view Hidden() const;

  /// What it takes in memory, roughly, with its share of what it shares at the moment.
  size_t Bytes() const;

 private:
  /// Follow the object in its allocation: key, text; if it has managed fields, where these go in
  /// the text and their times; if it has protobuf, its size and bytes; hidden bytes likewise.
  const char* Tail() const { return reinterpret_cast<const char*>(this + 1); }
  const char* BehindText() const;
  const char* BehindManagedFields() const;

  bool HasManagedFields() const { return !managed_.IsEmpty(); }
  /// The JSON from a position in the text on.
  void AppendFrom(std::string& out, size_t from, std::string_view version) const;

  // 32 bytes, because there are many. Keys and what comes before the metadata are short.
  int64_t revision_ = 0;
  SharedText managed_;  // As TextWithGaps.
  uint32_t text_size_ = 0;
  uint32_t version_at_ = 0;
  uint16_t metadata_at_ = 0;
  uint16_t key_size_ = 0;
  uint16_t name_at_ = 0;
  uint16_t resource_ : 12 = 0;
  bool namespaced_ : 1 = false;
  bool has_protobuf_ : 1 = false;
  bool has_hidden_ : 1 = false;
};

}  // namespace berth::state
