#include "berth/inspect/map_command.h"

#include "berth/inspect/gaps_text.h"
#include "berth/inspect/map_text.h"
#include "berth/inspect/map_view.h"
#include "berth/inspect/show.h"
#include "berth/paint.h"

namespace berth::cli {
namespace {

std::string MapTextOf(const inspect::Census& census, const MapArguments& arguments,
                      const Style& style) {
  if (arguments.range.empty() && arguments.at.empty()) return MapListText(census, style);
  std::string out;
  const std::vector<MapView> views = MapViews(census, arguments).value();
  for (const MapView& view : views) {
    if (!out.empty()) out += "\n\n";
    out += MapText(census, view, style);
  }
  return out + GapsText(census.cluster(), Paint(style));
}

}  // namespace

int RunMap(const MapArguments& arguments) {
  return Show("map", arguments.source, arguments.output,
              {.check = [&](const inspect::Census& census) -> base::Result<void> {
                 const auto views = MapViews(census, arguments);
                 if (!views) return tl::unexpected(views.error());
                 return {};
               },
               .text = [&](const inspect::Census& census, const Style& style,
                           bool /*wide*/) { return MapTextOf(census, arguments, style); },
               .document =
                   [&](const inspect::Census& census) {
                     return MapDocument(census, MapViews(census, arguments).value());
                   }});
}

}  // namespace berth::cli
