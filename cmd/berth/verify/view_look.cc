#include "berth/verify/view_look.h"

#include "allocation/allocation_forms.h"
#include "allocation/claims/allocation_form.h"
#include "berth/inspect/range_sources.h"
#include "berth/verify/api_look.h"
#include "inspect/checks.h"

namespace berth::cli {

Look LookAtView(const inspect::Cluster& cluster) {
  Look look{.report = inspect::CheckCluster(cluster),
            .range_sources = RangeSources(cluster),
            .how_to_check = {}};
  if (cluster.server == inspect::ServerKind::kBerth) {
    look.form = allocation::FormText(allocation::AllocationForm::kRecords);
    look.not_checked = UnseenByApi(look.form);
  } else {
    const bool addresses = cluster.keeps != audit::Keeps::kNothing;
    look.form = addresses ? "IPAddresses" : "Services";
    if (!addresses) look.not_checked.emplace_back("Records of addresses");
    look.not_checked.emplace_back("The allocator's ports, which Kubernetes does not show");
  }
  for (const inspect::Gap& gap : cluster.gaps) look.not_checked.push_back(gap.what);
  return look;
}

}  // namespace berth::cli
