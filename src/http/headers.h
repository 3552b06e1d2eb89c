// The header fields of a request or a response, in order, with names in lower case and values as
// they arrived. They are kept as one block of text and a table of offsets, so that twenty fields
// cost two allocations. A value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::http {

struct Header {
  std::string_view name;
  std::string_view value;
  bool unique = false;
};

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

  /// Appends a field. The name is converted to lower case. Bytes that could end a header line (CR,
  /// LF, NUL) become spaces, so a value may come from any source.
  void Add(std::string_view name, std::string_view value);

  /// Does the same for a value that will not occur again. HTTP/2 does not put it into its table,
  /// where it would displace values that do.
  void AddUnique(std::string_view name, std::string_view value);

  /// Returns the first value of `name`, or nullopt if there is no such field. `name` must be in
  /// lower case.
  std::optional<std::string_view> Find(std::string_view name) const;

  /// Returns every value of `name`, in order.
  std::vector<std::string_view> FindAll(std::string_view name) const;

  /// Returns a field, which is valid until the next Add.
  Header operator[](size_t i) const;
  size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

 private:
  struct Field {
    uint32_t begin = 0;
    uint32_t name_size = 0;
    uint32_t value_size = 0;
    bool unique = false;
  };

  std::string text_;
  std::vector<Field> fields_;
};

}  // namespace berth::http
