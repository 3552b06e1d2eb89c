// The flags of berth top and berth forecast.
#pragma once

namespace berth::cli {

class CommandSet;

void AddTop(CommandSet& commands);
void AddForecast(CommandSet& commands);

}  // namespace berth::cli
