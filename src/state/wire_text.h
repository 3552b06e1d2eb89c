// The wire JSON from which an object of the snapshot is made, and where its parts are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::state {

/// The parts of a text that belong to one object and are not shared with others.
struct OwnParts {
  struct Part {
    uint32_t at = 0;
    uint32_t size = 0;
  };
  static constexpr size_t kMost = 8;

  std::array<Part, kMost> parts = {};  // Ascending, without overlaps.
  size_t count = 0;                    // 0 if no parts are marked.
};

/// JSON with an empty `metadata.resourceVersion`.
struct WireText {
  std::string text = {};
  /// Where `"metadata":` begins, after kind and apiVersion. Items of a list begin here.
  size_t metadata_at = 0;
  /// Where the digits of the revision belong, between the quotes of `"resourceVersion":""`.
  size_t version_at = 0;
  /// Where `,"managedFields":[...]` is, after the version. The size is 0 if there are no managed
  /// fields.
  size_t managed_at = 0;
  size_t managed_size = 0;
  /// The object in protobuf, if it has fields that JSON does not show because only a newer server
  /// knows them. Else empty.
  std::string protobuf = {};
  /// Bytes that are kept with the object and that no client sees. Empty for most objects.
  std::string hidden = {};
  /// Marked for kinds with many objects that differ in little. The text outside these parts and
  /// outside the times of the managed fields is kept once for all objects in which it is equal. Bad
  /// marks cost only memory.
  OwnParts own = {};
};

/// Marks the string values of these members as the object's own. Each member is searched for after
/// the one before it, from the metadata on and not in the managed fields. Members that do not occur
/// are skipped. An example is {"name", "uid", "creationTimestamp", "namespace", "name"}.
void MarkOwn(WireText& wire, std::span<const std::string_view> members);

}  // namespace berth::state
