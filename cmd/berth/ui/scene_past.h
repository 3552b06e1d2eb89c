// What the history of an observer adds to scenes.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "berth/ui/scene_keeper.h"

namespace berth::cli {

/// Returns functions that read the history in this folder anew each time, because an observer may
/// write to it. `flush`, which may be unset, is called before that.
ScenePast PastOf(std::string directory, std::function<base::Result<void>()> flush);

}  // namespace berth::cli
