#include "alloc/pool_id.h"

namespace berth::alloc {

std::string TextOf(const PoolValue& value) {
  if (value.pool == PoolId::kPorts) return std::to_string(static_cast<uint16_t>(value.value));
  return ip::Addr(value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6, value.value)
      .ToString();
}

}  // namespace berth::alloc
