// Looks at what the API of a running Berth shows: Services, records and ranges, list by list, in
// pages, all at the revision of the first page. Reads only.
//
// The API does not show bitmaps, nor objects that cannot be decoded. The look says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "berth/verify/store_look.h"
#include "kube/access.h"

namespace berth::cli {

/// Returns nullopt if the server is not Berth, or does not show how it keeps allocations. Fails
/// with kExpired if it gave up history before everything was read, and otherwise if it cannot be
/// reached or refuses to answer.
base::Result<std::optional<Look>> LookAtApi(const kube::Access& access,
                                            const LookProgress& progress);

/// Returns the form in which a running Berth keeps allocations, as in Look::form. Returns nullopt
/// if the server is not Berth, or does not show it.
base::Result<std::optional<std::string>> AskForm(const kube::Access& access);

/// Returns what the API of Berth does not show if it keeps allocations in this form.
std::vector<std::string> UnseenByApi(std::string_view form);

}  // namespace berth::cli
