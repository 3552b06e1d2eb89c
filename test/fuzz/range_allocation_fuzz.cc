// Stored bitmaps are foreign bytes, because another program may have written them. The first byte
// selects the range, and the rest is the data.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "alloc/index.h"
#include "allocation/bitmaps/bitmap_layout.h"
#include "fuzz/require.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace {

namespace alloc = berth::alloc;
namespace allocation = berth::allocation;
namespace ip = berth::ip;

template <typename Range>
void DecodeAndBack(const Range& range, std::string data) {
  const allocation::BitmapLayout form = allocation::BitmapLayout::Of(range);
  const allocation::RangeAllocation stored{.range = range.ToString(), .data = data};
  const auto decoded = form.Decode(stored);
  fuzz::Require(decoded.has_value());
  fuzz::Require(std::is_sorted(decoded->values.begin(), decoded->values.end()));
  const auto loaded = alloc::Index::Load(*alloc::LayoutOf(range), decoded->values);
  fuzz::Require(loaded.twice.empty());
  const auto again = form.Encode(loaded.index);
  fuzz::Require(again.has_value());
  if (decoded->bits_beyond == 0 && loaded.out_of_range.empty()) {
    data.erase(0, std::min(data.find_first_not_of('\0'), data.size()));
    fuzz::Require(again->data == data);
  }
  fuzz::Require(!form.Decode({.range = stored.range + "0", .data = data}).has_value());
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
