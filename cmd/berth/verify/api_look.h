// Looks at what the API of a running Berth shows: Services, records and ranges, list by list, in
// pages, all at the revision of the first page. Reads only.
//
// The API does not show bitmaps, nor objects that cannot be decoded. The look says so.
#pragma once

#include "base/result.h"
#include "berth/client/api_target.h"
#include "berth/verify/store_look.h"

namespace berth::cli {

/// Fails with kNotFound or kForbidden if the server is not Berth or refuses, with kExpired if it
/// gave up history before everything was read, and otherwise if it cannot be reached or refuses to
/// answer.
base::Result<Look> LookAtApi(const ApiTarget& target, const LookProgress& progress);

}  // namespace berth::cli
