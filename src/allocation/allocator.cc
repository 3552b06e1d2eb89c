#include "allocation/allocator.h"

#include "api/kinds.h"

namespace berth::allocation {

Allocator::Allocator(const Parts& parts, const base::SeededRandom& random)
    : gates_(parts.gates),
      ledger_(parts.ledger),
      rows_(RecordRowsOf(parts.kinds)),
      addresses_(parts.ledger, rows_, parts.clock, random, parts.metrics),
      services_(addresses_, *parts.kinds.FindRow(api::kEndpointsKind), parts.clock),
      records_(parts.ledger, rows_, parts.clock),
      ranges_(rows_, parts.gates, parts.sequencer, parts.ledger, parts.clock, random) {
  hooks_.Add(*parts.kinds.FindRow(api::kServiceKind), services_);
  hooks_.Add(*rows_.ip_addresses, records_);
  hooks_.Add(*rows_.node_ports, records_);
  hooks_.Add(*rows_.ip_ranges, ranges_);
  hooks_.Add(*rows_.node_port_ranges, ranges_);
  hooks_.Add(*rows_.service_cidrs, ranges_);
}

registry::Settings Allocator::Settings() const {
  return {.families = ledger_.Families(), .gates = gates_};
}

}  // namespace berth::allocation
