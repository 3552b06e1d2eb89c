// One API object in a snapshot: its key, the revision of its last write and its wire JSON. All of
// it is one allocation, except for the text that it shares with other objects. The JSON is kept
// without its revision, so that a deletion can show the last state with the deletion's revision.
// Managed fields are kept apart, because objects that were written in the same way have the same
// managed fields except for their times, and share them. An object whose own parts are marked
// shares all the rest of its text too (split_text.h).
//
// Lists and watches can filter by resource, namespace and name without decoding the JSON. For
// labels, fields and the like the caller decodes it.
//
// Threads: an object is immutable and shared, and may be read from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "state/key_prefix.h"
#include "state/shared_text.h"
#include "state/split_text.h"
#include "state/wire_text.h"

namespace berth::state {

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

/// The key of an object, and what the key says about it.
struct Identity {
  uint16_t resource = 0;      // Its index in state::Resources, below 4,096.
  std::string_view key = {};  // Begins with `prefix`.
  KeyPrefix prefix = {};
  /// Whether the rest of the key is `<namespace>/<name>` or only `<name>`.
  bool namespaced = false;
};

class Object {
  struct Private {};

 public:
  /// Makes an object. `revision` is 0 if the object was not written (dry-run). `identity` comes
  /// from state::Resources::Find.
  static ObjectPtr Make(const Identity& identity, int64_t revision, const WireText& wire);

  struct TextParts;
  Object(Private /*only_make*/, const Identity& identity, int64_t revision, const WireText& wire,
         const TextParts& parts);
  ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  uint16_t Resource() const { return resource_; }
  int64_t Revision() const { return revision_; }
  /// Returns a new string. The functions that compare keys make none and are cheaper.
  std::string Key() const;
  KeyPrefix Prefix() const { return prefix_; }
  std::string_view KeyAfterPrefix() const { return {Tail(), key_size_}; }
  bool KeyIs(std::string_view key) const;
  bool KeyStartsWith(std::string_view begin) const;
  /// Returns a number below 0, 0 or above 0 if this object's key is before the other's, equal to it
  /// or after it.
  int CompareKey(const Object& other) const;
  /// Returns the namespace, which is empty if the resource has no namespaces.
  std::string_view Namespace() const;
  std::string_view Name() const { return KeyAfterPrefix().substr(name_at_); }

  /// Appends the whole JSON, as a GET returns it.
  void AppendJson(std::string& out) const { AppendJson(out, revision_); }
  /// Appends the JSON with another revision, as a deletion needs it. If `revision` is 0,
  /// `resourceVersion` is left out, as in the dry-run of a create.
  void AppendJson(std::string& out, int64_t revision) const;
  /// Appends the JSON without kind and apiVersion, as an item of a list.
  void AppendListItem(std::string& out) const;

  /// Returns an upper bound of the JSON's length, which is at most some bytes too high, because a
  /// revision may have few digits.
  size_t JsonSize() const;

  /// Returns the JSON with an empty resourceVersion and without `metadata.managedFields`. That is
  /// enough for every caller that needs neither. If the text is not kept in one piece, it is built
  /// in `room`. The text is valid as long as both the object and `room` are.
  std::string_view TextWithoutManagedFields(std::string& room) const;

  /// Returns false if the object has no such member outside its managed fields. `member` is given
  /// as `"name":`. Returns true if it may have one. This is much faster than a search in the text,
  /// which may have to be built first.
  bool MayHave(std::string_view member) const;

  /// Returns WireText::protobuf.
  std::string_view Protobuf() const;
  /// Returns WireText::hidden.
  std::string_view Hidden() const;

  /// Returns roughly how much memory the object takes. Shared text counts in equal parts for all
  /// that share it at the moment.
  size_t Bytes() const;

 private:
  /// Where the parts of the text are, for an object that is not split.
  struct TextLayout {
    uint32_t text_size = 0;
    uint32_t metadata_at = 0;
    uint32_t version_at = 0;
    uint32_t managed_at = 0;
  };

  // These follow the object in its allocation, in this order:
  // - the rest of the key, after its prefix;
  // - if the object is split, its own parts;
  // - else TextLayout, the text and the times of its managed fields;
  // - protobuf and hidden bytes if there are any, each with their count.
  const char* Tail() const { return reinterpret_cast<const char*>(this + 1); }
  const char* AfterKey() const { return Tail() + key_size_; }
  const char* AfterText() const;

  JoinedText Joined() const { return {shared_.Get(), AfterKey(), Name()}; }
  TextLayout Layout() const;
  std::string_view Text(const TextLayout& layout) const;
  std::string_view Times(const TextLayout& layout) const;
  /// Returns where the version ends in `out`.
  size_t Append(std::string& out, bool from_metadata, std::string_view version) const;

  // These take only 24 bytes, because there are many objects. Keys are short.
  int64_t revision_ = 0;
  SharedText shared_;  // SplitText::shape if the object is split, else TextWithGaps::gapped.
  KeyPrefix prefix_;
  uint16_t key_size_ = 0;  // Without the prefix.
  uint16_t name_at_ = 0;   // Offset after the prefix. 0 if there is no namespace.
  uint16_t resource_ : 12 = 0;
  bool split_ : 1 = false;
  bool has_protobuf_ : 1 = false;
  bool has_hidden_ : 1 = false;
};

/// Returns the revision of an object, or 0 if the pointer is null.
inline int64_t RevisionOf(const ObjectPtr& object) { return object ? object->Revision() : 0; }

}  // namespace berth::state
