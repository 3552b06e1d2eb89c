#include "allocation/service_hooks.h"

#include <optional>
#include <utility>

#include "allocation/service_endpoints.h"
#include "rules/service_claims.h"

namespace berth::allocation {
namespace {

using commit::Refusal;
using registry::Attempt;
using registry::Door;
using registry::Draft;

class ServiceWrite final : public registry::WriteHooks {
 public:
  ServiceWrite(Addresses& addresses, const registry::Row& endpoints, const base::Clock& clock)
      : addresses_(addresses), endpoints_(endpoints), clock_(clock) {}

  void Begin(codec::Value& /*object*/) override { claims_.reset(); }

  std::optional<Refusal> OnCreate(const Attempt& attempt, Draft& draft,
                                  commit::Decision& decision) override {
    if (attempt.door != Door::kMain) {
      rules::ForgetHoldings(draft.object);
      return std::nullopt;
    }
    // Each attempt fills in other values, so the claims are read before the first attempt does.
    if (!claims_) claims_ = rules::ClaimsOf(draft.object, nullptr);
    return Change(attempt, draft, *claims_, decision);
  }

  /// A write of the status takes and releases nothing.
  std::optional<Refusal> OnUpdate(const Attempt& attempt, Draft& draft,
                                  commit::Decision& decision) override {
    if (attempt.door != Door::kMain || attempt.marks_deleted) return std::nullopt;
    return Change(attempt, draft, rules::ClaimsOf(draft.object, draft.old), decision);
  }

  std::optional<Refusal> OnDelete(const Attempt& attempt, const codec::Value& old,
                                  commit::Decision& decision) override {
    addresses_.Remove(old, attempt.snapshot).AddTo(decision);
    const registry::Target& service = attempt.target;
    EndEndpoints(endpoints_, service.name_space, service.name, attempt.snapshot, clock_.Now(),
                 decision);
    return std::nullopt;
  }

 private:
  std::optional<Refusal> Change(const Attempt& attempt, Draft& draft,
                                const rules::ServiceClaims& claims, commit::Decision& decision) {
    auto extra = addresses_.Change({.service = draft.object, .old = draft.old, .claims = claims},
                                   attempt.snapshot, ticket_);
    if (!extra) return std::move(extra.error());
    std::move(*extra).AddTo(decision);
    return std::nullopt;
  }

  Addresses& addresses_;
  const registry::Row& endpoints_;
  const base::Clock& clock_;
  std::optional<rules::ServiceClaims> claims_;  // Of a new Service.
  TicketPtr ticket_;
};

}  // namespace

std::shared_ptr<registry::WriteHooks> ServiceHooks::Begin(
    const registry::Target& /*target*/, const registry::CommonOptions& /*options*/) {
  return std::make_shared<ServiceWrite>(addresses_, endpoints_, clock_);
}

}  // namespace berth::allocation
