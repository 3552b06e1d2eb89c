#include "commit/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/object.h"

namespace berth::commit {
namespace {

/// Returns the object that the decision puts. Returns null if the key belongs to no resource.
state::ObjectPtr MakeObject(const std::string& key, const Decision& decision, int64_t revision,
                            const state::Resources& resources) {
  const auto identity = resources.Find(key);
  return identity ? state::Object::Make(*identity, revision, decision.wire) : nullptr;
}

}  // namespace

int64_t LastRevision(const store::TxnReply& reply) {
  int64_t last = 0;
  for (const store::Revision revision : reply.puts) last = std::max(last, revision.value);
  for (const store::Revision revision : reply.deletes) last = std::max(last, revision.value);
  return last;
}

bool IsOwnConflict(const Attempt& attempt, const store::TxnReply& reply) {
  return reply.conflicts.empty() ||
         std::ranges::any_of(reply.conflicts, [&attempt](const store::Conflict& conflict) {
           return conflict.compare < attempt.first_fence;
         });
}

Resolution Resolve(const std::string& key, const Attempt& attempt,
                   const state::Snapshot& snapshot) {
  const state::Expectation& expectation = *attempt.expected.front();
  if (expectation.revision != 0) return Resolution::kCommitted;
  if (!expectation.missed) return Resolution::kNotCommitted;
  const bool untouched = state::RevisionOf(snapshot.Find(key)) == expectation.before;
  const bool may_be_created_and_deleted = expectation.before == 0;
  return untouched && !may_be_created_and_deleted ? Resolution::kNotCommitted
                                                  : Resolution::kUnknown;
}

Written UncommittedResult(const std::string& key, const Attempt& attempt,
                          const state::Resources& resources) {
  const state::ObjectPtr& current = attempt.current;
  Written written{.object = current, .revision = state::RevisionOf(current)};
  if (attempt.decision.kind == Decision::Kind::kDelete) written.kind = Written::Kind::kDeleted;
  if (attempt.decision.kind == Decision::Kind::kPut) {
    written.kind = current ? Written::Kind::kUpdated : Written::Kind::kCreated;
    written.object = MakeObject(key, attempt.decision, written.revision, resources);
  }
  return written;
}

Written CommittedResult(const std::string& key, const Attempt& attempt,
                        const state::Snapshot& snapshot, const state::Resources& resources) {
  Written written{.revision = attempt.revision};
  if (attempt.decision.kind == Decision::Kind::kDelete) {
    written.kind = Written::Kind::kDeleted;
    written.object = attempt.current;
    return written;
  }
  written.kind = attempt.current ? Written::Kind::kUpdated : Written::Kind::kCreated;
  written.object = attempt.expected.front()->object;
  // The follower did not recognize the write, or another write has followed.
  if (!written.object) written.object = snapshot.Find(key);
  const bool other = !written.object || written.object->Revision() != attempt.revision;
  if (other) written.object = MakeObject(key, attempt.decision, attempt.revision, resources);
  return written;
}

std::optional<base::Error> UndecodableConflict(const store::TxnReply& reply,
                                               const state::Follower& follower) {
  for (const store::Conflict& conflict : reply.conflicts) {
    if (!conflict.current || !follower.IsUndecodable(conflict.current->key)) continue;
    return UndecodableError(conflict.current->key);
  }
  return std::nullopt;
}

base::Error UndecodableError(std::string_view key) {
  return {.reason = base::Reason::kInternalError,
          .message = fmt::format("what is stored under {} cannot be decoded", key)};
}

base::Error DeadlineError() {
  return {.reason = base::Reason::kTimeout,
          .message = "Timeout: request did not complete within the allotted timeout"};
}

base::Error ConflictsError() {
  return {.reason = base::Reason::kServerTimeout,
          .message = "the object is being changed by others all the time, please try again"};
}

base::Error UnknownError() {
  return {.reason = base::Reason::kTimeout,
          .message = "Timeout: it could not be found out whether the request took effect"};
}

}  // namespace berth::commit
