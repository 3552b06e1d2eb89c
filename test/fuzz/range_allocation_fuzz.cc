// Stored bitmaps are foreign bytes: another program may have written them. The first byte chooses
// the range, the rest is the data.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "alloc/index.h"
#include "alloc/range_allocation.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace {

namespace alloc = berth::alloc;
namespace ip = berth::ip;

void Check(bool ok) {
  if (!ok) std::abort();
}

template <typename Range>
void DecodeAndBack(const Range& range, std::string data) {
  const alloc::BitmapForm form = alloc::BitmapForm::Of(range);
  const alloc::RangeAllocation stored{.range = range.ToString(), .data = data};
  const auto decoded = form.Decode(stored);
  Check(decoded.has_value());
  Check(std::is_sorted(decoded->values.begin(), decoded->values.end()));
  alloc::Index index(*alloc::LayoutOf(range));
  const auto report = index.Load(decoded->values);
  Check(report.twice.empty());
  const auto again = form.Encode(index);
  Check(again.has_value());
  if (decoded->bits_beyond == 0 && report.out_of_range.empty()) {
    data.erase(0, std::min(data.find_first_not_of('\0'), data.size()));
    Check(again->data == data);
  }
  Check(!form.Decode({.range = stored.range + "0", .data = data}).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static constexpr const char* kCidrs[] = {"10.0.0.0/24", "10.0.0.0/31", "10.0.0.0/16",
                                           "fd00::/64",   "fd00::/120",  "::/100"};
  const size_t choice = data[0] % 8;
  if (choice < 6) {
    DecodeAndBack(ip::ParseCidr(kCidrs[choice]).value(), bytes);
  } else {
    DecodeAndBack(choice == 6 ? ip::PortRange(30000, 32767) : ip::PortRange(0, 100), bytes);
  }
  return 0;
}
