// The files of the page. The build makes them from web/ (cmake/web.cmake).
#pragma once

#include <span>

#include "ui/assets.h"

namespace berth::cli {

std::span<const ui::Asset> WebAssets();

}  // namespace berth::cli
