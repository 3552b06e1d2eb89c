// Reads what people ask about: an address, a port, a Service, a namespace or a range, in any form
// in which they find it in a manifest, a log or a URL. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "base/result.h"

namespace berth::inspect {

/// A part of a pool, as a person wrote it.
struct WrittenRange {
  alloc::PoolId pool = alloc::PoolId::kIpv4;
  alloc::Interval values = {};
  std::string text = {};  ///< In canonical form.
};

/// Exactly one of the three is set. A name may be that of a Service, a namespace or a range. Only
/// the cluster knows which.
struct Question {
  std::string asked = {};  ///< As given.
  std::optional<alloc::PoolValue> value = {};
  std::optional<WrittenRange> range = {};
  struct Name {
    std::string name_space = {};  ///< Empty means any.
    std::string name = {};
  };
  std::optional<Name> name = {};
};

/// Returns the question. The Error is a sentence without a full stop that begins with the given
/// text in quotes. These are read:
///
/// - addresses: 10.96.0.10, 10.96.0.10:443, 10.96.0.10/32, fd00::a, [fd00::a], [fd00::a]:443, and
///   the decimal names that IPAddresses of allocation.berth.io have;
/// - ports: 30080, :30080;
/// - ranges: 10.96.0.0/16, 30000-32767, or the name of one;
/// - Services: shop/web, web, and the names that DNS has for them (web.shop.svc.cluster.local);
/// - namespaces.
base::Result<Question> ReadQuestion(std::string_view text);

/// Returns the values of a CIDR or of a port range. Returns nullopt if the text has the form of
/// neither. Fails if it has the form but is not valid.
base::Result<std::optional<WrittenRange>> ReadWrittenRange(std::string_view text);

/// Returns one address or port in any of the forms above, or nullopt.
std::optional<alloc::PoolValue> ReadValue(std::string_view text);

}  // namespace berth::inspect
