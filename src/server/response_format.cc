#include "server/response_format.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/go_text.h"
#include "server/body.h"

namespace berth::server {

base::Result<ResponseFormat> ResponseFormatOf(const registry::Registry& registry, const Call& call,
                                              bool of_list) {
  ResponseFormat format{.served = call.route.served,
                        .hooks = &registry.HooksOf(*call.route.served.row),
                        .media = call.accept.media,
                        .transform = call.accept.transform,
                        .transform_version = call.accept.transform_version,
                        .pretty = call.accept.media == Media::kJson && call.Pretty()};
  const api::Kind& kind = format.served.Kind();
  const std::string go_type =
      fmt::format("*{}.{}", GoPackage(kind.group), of_list ? kind.list_kind : kind.kind);
  if (of_list && format.transform == Transform::kPartial) {
    return base::Fail(
        base::Reason::kNotAcceptable,
        fmt::format("you requested PartialObjectMetadata, but the requested object is "
                    "a list ({})",
                    go_type));
  }
  if (!of_list && format.transform == Transform::kPartialList) {
    return base::Fail(base::Reason::kNotAcceptable,
                      fmt::format("you requested PartialObjectMetadataList, but the requested "
                                  "object is not a list ({})",
                                  go_type));
  }
  const std::string_view include = call.query.Get("includeObject");
  if (include == "None") {
    format.include = IncludeObject::kNone;
  } else if (include == "Object") {
    format.include = IncludeObject::kObject;
  } else if (!include.empty() && include != "Metadata" && format.transform == Transform::kTable) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("Unable to convert to Table as requested: includeObject: Invalid "
                                  "value: {}: must be 'Metadata', 'Object', 'None', or empty",
                                  base::GoQuoted(include)));
  }
  return format;
}

}  // namespace berth::server
