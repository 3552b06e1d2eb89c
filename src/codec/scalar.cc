#include "codec/scalar.h"

#include "base/escape.h"

namespace berth::codec {

void AppendPlainScalar(std::string& out, const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += *value.AsBool() ? "true" : "false";
      return;
    case Kind::kInt:
      AppendInteger(out, *value.AsInt());
      return;
    case Kind::kUint:
      AppendInteger(out, *value.AsUint());
      return;
    case Kind::kDouble:
      base::AppendJsonDouble(out, *value.AsDouble());
      return;
    case Kind::kString:
    case Kind::kArray:
    case Kind::kObject:
      return;
  }
}

}  // namespace berth::codec
