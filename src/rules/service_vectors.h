// Test vectors for the IP fields of a Service, taken from the behaviour of Kubernetes 1.36. Used by
// service_families_test.cc.
#pragma once

#include <string_view>

namespace berth::rules {

/// Vectors for create. Columns: the families of the cluster, in order; the given addresses (4 or 6
/// is one of that family, N is `None`, H is `None` without a selector, - is no address); the given
/// policy (S, P, R, or - if not set); then the result if the client gives no families, 4, 6,
/// 46, 64. E means refused, otherwise the result is the stored policy and families.
inline constexpr std::string_view kCreateVectors = R"(
4 - - S4 S4 E E E
4 - S S4 S4 E E E
4 - P P4 P4 E E E
4 - R E E E E E
4 4 - S4 S4 E E E
4 4 S S4 S4 E E E
4 4 P P4 P4 E E E
4 4 R E E E E E
4 46 - E E E E E
4 46 S E E E E E
4 46 P E E E E E
4 46 R E E E E E
4 64 - E E E E E
4 64 S E E E E E
4 64 P E E E E E
4 64 R E E E E E
4 N - S4 S4 E E E
4 N S S4 S4 E E E
4 N P P4 P4 E E E
4 N R E E E E E
4 H - R46 R46 R64 R46 R64
4 H S S4 S4 S6 E E
4 H P P46 P46 P64 P46 P64
4 H R R46 R46 R64 R46 R64
6 - - S6 E S6 E E
6 - S S6 E S6 E E
6 - P P6 E P6 E E
6 - R E E E E E
6 6 - S6 E S6 E E
6 6 S S6 E S6 E E
6 6 P P6 E P6 E E
6 6 R E E E E E
6 46 - E E E E E
6 46 S E E E E E
6 46 P E E E E E
6 46 R E E E E E
6 64 - E E E E E
6 64 S E E E E E
6 64 P E E E E E
6 64 R E E E E E
6 N - S6 E S6 E E
6 N S S6 E S6 E E
6 N P P6 E P6 E E
6 N R E E E E E
6 H - R64 R46 R64 R46 R64
6 H S S6 S4 S6 E E
6 H P P64 P46 P64 P46 P64
6 H R R64 R46 R64 R46 R64
46 - - S4 S4 S6 E E
46 - S S4 S4 S6 E E
46 - P P46 P46 P64 P46 P64
46 - R R46 R46 R64 R46 R64
46 4 - S4 S4 E E E
46 4 S S4 S4 E E E
46 4 P P46 P46 E P46 E
46 4 R R46 R46 E R46 E
46 6 - S6 E S6 E E
46 6 S S6 E S6 E E
46 6 P P64 E P64 E P64
46 6 R R64 E R64 E R64
46 46 - E E E E E
46 46 S E E E E E
46 46 P P46 P46 E P46 E
46 46 R R46 R46 E R46 E
46 64 - E E E E E
46 64 S E E E E E
46 64 P P64 E P64 E P64
46 64 R R64 E R64 E R64
46 N - S4 S4 S6 E E
46 N S S4 S4 S6 E E
46 N P P46 P46 P64 P46 P64
46 N R R46 R46 R64 R46 R64
46 H - R46 R46 R64 R46 R64
46 H S S4 S4 S6 E E
46 H P P46 P46 P64 P46 P64
46 H R R46 R46 R64 R46 R64
64 - - S6 S4 S6 E E
64 - S S6 S4 S6 E E
64 - P P64 P46 P64 P46 P64
64 - R R64 R46 R64 R46 R64
64 4 - S4 S4 E E E
64 4 S S4 S4 E E E
64 4 P P46 P46 E P46 E
64 4 R R46 R46 E R46 E
64 6 - S6 E S6 E E
64 6 S S6 E S6 E E
64 6 P P64 E P64 E P64
64 6 R R64 E R64 E R64
64 46 - E E E E E
64 46 S E E E E E
64 46 P P46 P46 E P46 E
64 46 R R46 R46 E R46 E
64 64 - E E E E E
64 64 S E E E E E
64 64 P P64 E P64 E P64
64 64 R R64 E R64 E R64
64 N - S6 S4 S6 E E
64 N S S6 S4 S6 E E
64 N P P64 P46 P64 P46 P64
64 N R R64 R46 R64 R46 R64
64 H - R64 R46 R64 R46 R64
64 H S S6 S4 S6 E E
64 H P P64 P46 P64 P46 P64
64 H R R64 R46 R64 R46 R64
)";

/// Vectors for update. Columns: the policy and addresses that the Service was created with; the
/// policy, families and addresses of the update; and the number of families afterwards, or E.
inline constexpr std::string_view kUpdateVectors = R"(
4 S - S - - 1
4 S - R 46 - E
4 S - R - - E
4 S - - 46 - E
46 S 4 - - - 1
46 S 4 - - 4 1
46 S 4 - - 46 E
46 S 4 - 4 - 1
46 S 4 - 4 4 1
46 S 4 - 4 46 E
46 S 4 - 46 - E
46 S 4 - 46 4 E
46 S 4 - 46 46 E
46 S 4 S - - 1
46 S 4 S - 4 1
46 S 4 S - 46 E
46 S 4 S 4 - 1
46 S 4 S 4 4 1
46 S 4 S 4 46 E
46 S 4 S 46 - E
46 S 4 S 46 4 E
46 S 4 S 46 46 E
46 S 4 P - - 2
46 S 4 P - 4 2
46 S 4 P - 46 2
46 S 4 P 4 - 2
46 S 4 P 4 4 2
46 S 4 P 4 46 2
46 S 4 P 46 - 2
46 S 4 P 46 4 2
46 S 4 P 46 46 2
46 S 4 R - - 2
46 S 4 R - 4 2
46 S 4 R - 46 2
46 S 4 R 4 - 2
46 S 4 R 4 4 2
46 S 4 R 4 46 2
46 S 4 R 46 - 2
46 S 4 R 46 4 2
46 S 4 R 46 46 2
46 S 4 R 64 - E
46 S 4 R - 64 E
64 S 6 - - - 1
64 S 6 - - 6 1
64 S 6 - - 64 E
64 S 6 - 6 - 1
64 S 6 - 6 6 1
64 S 6 - 6 64 E
64 S 6 - 64 - E
64 S 6 - 64 6 E
64 S 6 - 64 64 E
64 S 6 S - - 1
64 S 6 S - 6 1
64 S 6 S - 64 E
64 S 6 S 6 - 1
64 S 6 S 6 6 1
64 S 6 S 6 64 E
64 S 6 S 64 - E
64 S 6 S 64 6 E
64 S 6 S 64 64 E
64 S 6 P - - 2
64 S 6 P - 6 2
64 S 6 P - 64 2
64 S 6 P 6 - 2
64 S 6 P 6 6 2
64 S 6 P 6 64 2
64 S 6 P 64 - 2
64 S 6 P 64 6 2
64 S 6 P 64 64 2
64 S 6 R - - 2
64 S 6 R - 6 2
64 S 6 R - 64 2
64 S 6 R 6 - 2
64 S 6 R 6 6 2
64 S 6 R 6 64 2
64 S 6 R 64 - 2
64 S 6 R 64 6 2
64 S 6 R 64 64 2
64 S 6 R 46 - E
64 S 6 R - 46 E
46 S N - - - 1
46 S N - 4 - 1
46 S N - 46 - E
46 S N S - - 1
46 S N S 4 - 1
46 S N S 46 - E
46 S N P - - 2
46 S N P 4 - 2
46 S N P 46 - 2
46 S N R - - 2
46 S N R 4 - 2
46 S N R 46 - 2
46 R 46 - - - 2
46 R 46 - - 4 E
46 R 46 - - 46 2
46 R 46 - 4 - E
46 R 46 - 4 4 E
46 R 46 - 4 46 E
46 R 46 - 46 - 2
46 R 46 - 46 4 E
46 R 46 - 46 46 2
46 R 46 S - - 1
46 R 46 S - 4 1
46 R 46 S - 46 1
46 R 46 S 4 - 1
46 R 46 S 4 4 1
46 R 46 S 4 46 1
46 R 46 S 46 - 1
46 R 46 S 46 4 1
46 R 46 S 46 46 1
46 R 46 P - - 2
46 R 46 P - 4 E
46 R 46 P - 46 2
46 R 46 P 4 - E
46 R 46 P 4 4 E
46 R 46 P 4 46 E
46 R 46 P 46 - 2
46 R 46 P 46 4 E
46 R 46 P 46 46 2
46 R 46 R - - 2
46 R 46 R - 4 E
46 R 46 R - 46 2
46 R 46 R 4 - E
46 R 46 R 4 4 E
46 R 46 R 4 46 E
46 R 46 R 46 - 2
46 R 46 R 46 4 E
46 R 46 R 46 46 2
46 R 46 S 6 - E
46 R 46 S - 6 E
64 R 64 - - - 2
64 R 64 - - 6 E
64 R 64 - - 64 2
64 R 64 - 6 - E
64 R 64 - 6 6 E
64 R 64 - 6 64 E
64 R 64 - 64 - 2
64 R 64 - 64 6 E
64 R 64 - 64 64 2
64 R 64 S - - 1
64 R 64 S - 6 1
64 R 64 S - 64 1
64 R 64 S 6 - 1
64 R 64 S 6 6 1
64 R 64 S 6 64 1
64 R 64 S 64 - 1
64 R 64 S 64 6 1
64 R 64 S 64 64 1
64 R 64 P - - 2
64 R 64 P - 6 E
64 R 64 P - 64 2
64 R 64 P 6 - E
64 R 64 P 6 6 E
64 R 64 P 6 64 E
64 R 64 P 64 - 2
64 R 64 P 64 6 E
64 R 64 P 64 64 2
64 R 64 R - - 2
64 R 64 R - 6 E
64 R 64 R - 64 2
64 R 64 R 6 - E
64 R 64 R 6 6 E
64 R 64 R 6 64 E
64 R 64 R 64 - 2
64 R 64 R 64 6 E
64 R 64 R 64 64 2
64 R 64 S 4 - E
64 R 64 S - 4 E
46 R N - - - 2
46 R N - 4 - E
46 R N - 46 - 2
46 R N S - - 1
46 R N S 4 - 1
46 R N S 46 - 1
46 R N P - - 2
46 R N P 4 - E
46 R N P 46 - 2
46 R N R - - 2
46 R N R 4 - E
46 R N R 46 - 2
)";

}  // namespace berth::rules
