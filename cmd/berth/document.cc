#include "berth/document.h"

namespace berth::cli {

void SetCount(codec::Object& object, const std::string& key, base::U128 count) {
  object.Set(key, base::SaturateToInt64(count));
  object.Set(key + "Text", base::ToDecimal(count));
}

}  // namespace berth::cli
