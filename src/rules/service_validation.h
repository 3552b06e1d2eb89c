// Validation of Services, with Kubernetes' messages in Kubernetes' order, and warnings. Validation
// comes before allocation, so a value that allocation will fill in (an address, a node port, the
// health check port) may be missing. Pure.
#pragma once

#include <string>
#include <vector>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

struct ServiceOptions {
  /// Names may start with a digit (gate RelaxedServiceNameValidation).
  bool relaxed_names = true;
};

FieldErrors ValidateServiceCreate(const codec::Value& service, const ServiceOptions& options = {});
FieldErrors ValidateServiceUpdate(const codec::Value& service, const codec::Value& old);
FieldErrors ValidateServiceStatusUpdate(const codec::Value& service, const codec::Value& old);

/// Checks clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, and their combination. `old` is
/// null on create.
FieldErrors ValidateClusterIps(const codec::Value& service, const codec::Value* old);

/// Return texts for Warning headers, in order.
std::vector<std::string> ServiceWarnings(const codec::Value& service);
std::vector<std::string> ServiceStatusWarnings(const codec::Value& service);

}  // namespace berth::rules
