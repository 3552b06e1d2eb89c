// Header fields of a request or a response: names in lower case, values as they came, in order.
// One block of text and a table of offsets, so that twenty fields cost two allocations. A value.
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

  /// Appends a field. The name is lowered. What could break out of a header line (CR, LF, NUL)
  /// becomes a space, so a value may come from anywhere.
  void Add(std::string_view name, std::string_view value);

  /// The same for a value that will not come again, which HTTP/2 then does not remember in place of
  /// those that do.
  void AddUnique(std::string_view name, std::string_view value);

  /// The first value of `name`, which is given in lower case.
  std::optional<std::string_view> Find(std::string_view name) const;

  /// Every value of `name`, in order.
  std::vector<std::string_view> FindAll(std::string_view name) const;

  /// Valid until the next Add.
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
