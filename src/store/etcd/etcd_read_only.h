// Reads a store in etcd without writing anything: no marker, no epoch key, no lease, no tick. For
// tools that must leave a store as it is. It knows the present and the states of whole etcd
// revisions, such as the pages of one scan. It does not follow the store.
//
// Threads: any, as the contract of engines says.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "store/etcd/etcd_engine.h"
#include "store/event_slot.h"

namespace berth::store::etcd {

/// Opens an existing store. Commits, compactions and watches are refused. Fails as EtcdEngine::Open
/// does, and with kNotFound if the prefix holds no store. `log` and `clock` must outlive the
/// engine.
base::Result<std::unique_ptr<EtcdEngine>> OpenReadOnly(const ClientOptions& client,
                                                       EtcdOptions options, SlotCodec slots,
                                                       base::Logger& log, const base::Clock& clock);

}  // namespace berth::store::etcd
