// One API object as the picture holds it: its key, the revision of its last write and its wire
// JSON, all in one allocation but for what it shares with others. The JSON is kept without its
// revision, so that a deletion can show the last state with the deletion's revision. Managed fields
// are kept apart: objects made alike have the same but for their times, and share them. An object
// whose own parts are marked shares all the rest (split_text.h).
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

#include "state/key_prefix.h"
#include "state/shared_text.h"
#include "state/split_text.h"
#include "state/wire_text.h"

namespace berth::state {

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

/// What an object is, apart from what it holds.
struct Identity {
  uint16_t resource = 0;      // Its place in state::Resources, below 4,096.
  std::string_view key = {};  // Begins with `prefix`.
  KeyPrefix prefix = {};
  /// The key behind the prefix is `<namespace>/<name>`, or `<name>`.
  bool namespaced = false;
};

class Object {
  struct Private {};

 public:
  /// `revision` 0: it has none yet (dry-run). The key is one that state::Resources has found.
  static ObjectPtr Make(const Identity& identity, int64_t revision, const WireText& wire);

  struct Pieces;
  Object(Private /*only_make*/, const Identity& identity, int64_t revision, const WireText& wire,
         const Pieces& pieces);
  ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  uint16_t Resource() const { return resource_; }
  int64_t Revision() const { return revision_; }
  /// Put together each time; comparing needs no string.
  std::string Key() const;
  KeyPrefix Prefix() const { return prefix_; }
  std::string_view KeyBehindPrefix() const { return {Tail(), key_size_}; }
  bool KeyIs(std::string_view key) const;
  bool KeyStartsWith(std::string_view begin) const;
  /// Before, the same or behind: below 0, 0 or above.
  int CompareKey(const Object& other) const;
  /// Empty for objects without one.
  std::string_view Namespace() const;
  std::string_view Name() const { return KeyBehindPrefix().substr(name_at_); }

  /// The whole JSON, as a GET answers it.
  void AppendJson(std::string& out) const { AppendJson(out, revision_); }
  /// With another revision (of a deletion). 0 leaves `resourceVersion` out (dry-run of a create).
  void AppendJson(std::string& out, int64_t revision) const;
  /// As an item of a list: without kind and apiVersion.
  void AppendListItem(std::string& out) const;

  /// At least as long as its JSON, and at most some bytes longer: a revision may have few digits.
  size_t JsonSize() const;

  /// The JSON with an empty resourceVersion and without `metadata.managedFields`: all there is to
  /// decode for questions that are not about these. What is not there in one piece is put into
  /// `room`; the text lives as long as both.
  std::string_view TextWithoutManagedFields(std::string& room) const;

  /// Whether it may have a member somewhere, given as `"name":`; false: it has none, its managed
  /// fields aside. Much faster than to look at the text, which may have to be put together.
  bool MayHave(std::string_view member) const;

  /// As WireText::protobuf.
  std::string_view Protobuf() const;
  /// As WireText::hidden.
  std::string_view Hidden() const;

  /// What it takes in memory, roughly, with its share of what it shares at the moment.
  size_t Bytes() const;

 private:
  /// Of an object that is not split: where its parts are.
  struct Places {
    uint32_t text_size = 0;
    uint32_t metadata_at = 0;
    uint32_t version_at = 0;
    uint32_t managed_at = 0;
  };

  /// Follow the object in its allocation: the key behind its prefix; if it is split, what is its
  /// own; else places, text and the times of its managed fields; then, if it has them, protobuf and
  /// hidden bytes, each with their number.
  const char* Tail() const { return reinterpret_cast<const char*>(this + 1); }
  const char* BehindKey() const { return Tail() + key_size_; }
  const char* BehindText() const;

  JoinedText Joined() const { return {shared_.Get(), BehindKey(), Name()}; }
  Places PlacesOfText() const;
  std::string_view Text(const Places& places) const;
  std::string_view Times(const Places& places) const;
  /// Returns where the version ends in `out`.
  size_t Append(std::string& out, bool from_metadata, std::string_view version) const;

  // 24 bytes, because there are many. Keys are short.
  int64_t revision_ = 0;
  SharedText shared_;  // SplitText::shape if it is split, else TextWithGaps::gapped.
  KeyPrefix prefix_;
  uint16_t key_size_ = 0;  // Behind the prefix.
  uint16_t name_at_ = 0;   // There; 0: it has no namespace.
  uint16_t resource_ : 12 = 0;
  bool split_ : 1 = false;
  bool has_protobuf_ : 1 = false;
  bool has_hidden_ : 1 = false;
};

}  // namespace berth::state
