// Renders what is known about one value.
#pragma once

#include <string>

#include "berth/inspect/fact_list.h"
#include "berth/paint.h"
#include "inspect/whois.h"

namespace berth::cli {

/// Returns a heading and facts. Lines end with a newline.
std::string ValueAnswerText(const inspect::Census& census, const inspect::ValueAnswer& answer,
                            const Paint& paint);

/// Returns the facts alone.
FactList ValueFacts(const inspect::Census& census, const inspect::ValueAnswer& answer,
                    const Paint& paint);

/// Says in a sentence or two whether the value may be put into a manifest.
std::string VerdictText(const inspect::Census& census, const inspect::ValueAnswer& answer);

/// Returns "named by helm", "drawn by the allocator" or why that is not known.
std::string OriginText(const inspect::Held& held);

/// Returns what a node port serves: "80/TCP (http), 443/TCP", or "health checks".
std::string ServesText(const inspect::Held& held);

/// Returns "Helm release web, owned by Gateway web", or an empty text.
std::string ManagedText(const inspect::Service& service);

/// Returns "2026-01-02T03:04:05Z, 3d4h ago".
std::string SinceText(base::WallTime time, base::WallTime now);

/// Returns "2026-01-02T03:04:05Z" if that is exact, "2026-01-02T03:04:05Z or earlier", or "between
/// 2026-01-02T03:04:05Z and 2026-01-02T09:04:05Z".
std::string BoundsText(const inspect::Bounds& bounds);

}  // namespace berth::cli
