#include "api/schema.h"

namespace berth::api {

const Field* Message::FindNumber(uint32_t number) const {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

std::string_view Message::Name() const { return openapi_name.substr(openapi_name.rfind('.') + 1); }

std::string_view Message::GoType() const {
  const size_t name = openapi_name.rfind('.');
  return name == std::string_view::npos
             ? openapi_name
             : openapi_name.substr(openapi_name.rfind('.', name - 1) + 1);
}

}  // namespace berth::api
