#include "base/separators.h"

#include <cstddef>

namespace berth::base {

std::string WithSeparators(std::string_view decimal) {
  std::string out;
  for (size_t i = 0; i < decimal.size(); ++i) {
    if (i > 0 && (decimal.size() - i) % 3 == 0) out += ',';
    out += decimal[i];
  }
  return out;
}

std::string WithSeparators(U128 number) { return WithSeparators(ToDecimal(number)); }

}  // namespace berth::base
