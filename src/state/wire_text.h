// An object's wire JSON on its way into the picture, and where its parts are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::state {

/// Parts of a text that are an object's own.
struct OwnParts {
  struct Part {
    uint32_t at = 0;
    uint32_t size = 0;
  };
  static constexpr size_t kMost = 8;

  std::array<Part, kMost> parts = {};  // Ascending; none reaches into another.
  size_t count = 0;                    // 0: the text is not looked at like this.
};

/// With an empty `metadata.resourceVersion`.
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
  /// For objects of which there are many that differ in little. The text outside these parts and
  /// outside the managed fields is kept once for all objects that have the same; if it is not,
  /// nothing is lost but some memory.
  OwnParts own = {};
};

/// Marks the string values of these members as the object's own. They are looked for behind each
/// other from the metadata on, but not in the managed fields; members that are not there are passed
/// over. As in {"name", "uid", "creationTimestamp", "namespace", "name"}.
void MarkOwn(WireText& wire, std::span<const std::string_view> members);

}  // namespace berth::state
