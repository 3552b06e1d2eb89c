#include "server/server_write.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "codec/read.h"
#include "merge/managed_fields.h"
#include "server/body.h"
#include "server/list.h"
#include "server/options.h"
#include "server/render.h"
#include "server/response_format.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

using commit::Written;

registry::CommonOptions Deletion(const Call& call, const DeleteRequest& request) {
  return {.dry_run = request.dry_run, .deadline = call.Deadline(kWriteTimeout)};
}

/// Returns the object's name in the view.
std::string NameOf(const registry::Served& served, const state::Object& object) {
  return served.ShownName(object.Name()).value_or(std::string(object.Name()));
}

/// Renders the Status that names the deleted object.
std::string RenderDeleted(const ResponseFormat& format, const state::Object& object) {
  const auto value = registry::Registry::Decode(*format.served.row, object);
  const api::Kind& kind = format.served.Kind();
  return RenderDocument(
      format, DeletedStatus({.name = NameOf(format.served, object),
                             .group = std::string(kind.group),
                             .kind = std::string(kind.plural),
                             .uid = value ? std::string(codec::StringAt(*value, "metadata", "uid"))
                                          : std::string()}));
}

/// Deletes many objects, kAtOnce at a time, and answers with the list of them. It stops at the
/// first error. An object that no longer exists counts as deleted.
class Removal : public std::enable_shared_from_this<Removal> {
 public:
  Removal(const Parts& parts, CallPtr call, const ResponseFormat& format, DeleteRequest request,
          Collection collection)
      : parts_(parts),
        call_(std::move(call)),
        format_(format),
        request_(std::move(request)),
        collection_(std::move(collection)) {}

  /// Starts deletes until kAtOnce are running. A delete may be answered inside this call and call
  /// Continue again; that inner call returns at once, and this loop starts the next delete.
  void Continue() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (std::exchange(beginning_, true)) return;
    const std::vector<state::ObjectPtr>& objects = collection_.objects;
    while (under_way_ < kAtOnce && next_ < objects.size() && !error_) {
      const state::Object& object = *objects[next_++];
      ++under_way_;
      lock.Unlock();
      parts_.registry.Delete(
          {.served = call_->route.served,
           .name_space = std::string(object.Namespace()),
           .name = NameOf(call_->route.served, object)},
          request_.options, Deletion(*call_, request_),
          [self = shared_from_this()](const base::Result<registry::Outcome>& outcome) {
            self->OnDeleted(outcome);
          });
      lock.Lock();
    }
    beginning_ = false;
    const bool finished = under_way_ == 0;
    lock.Unlock();
    if (finished) Answer();
  }

 private:
  static constexpr size_t kAtOnce = 256;

  void OnDeleted(const base::Result<registry::Outcome>& outcome) EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      --under_way_;
      const bool failed = !outcome && outcome.error().reason != base::Reason::kNotFound;
      if (failed && !error_) error_ = outcome.error();
    }
    Continue();
  }

  /// Answers, once all deletes have ended and none will start.
  void Answer() EXCLUDES(mutex_) {
    std::optional<base::Error> error;
    {
      base::MutexLock lock(mutex_);
      error = error_;
    }
    if (error) return call_->Fail(*error);
    call_->Answer(200, ContentType(format_),
                  RenderList(format_, collection_.meta, collection_.objects, parts_.clock.Now()));
  }

  const Parts parts_;
  const CallPtr call_;
  const ResponseFormat format_;
  const DeleteRequest request_;
  const Collection collection_;

  base::Mutex mutex_;
  bool beginning_ GUARDED_BY(mutex_) = false;
  size_t next_ GUARDED_BY(mutex_) = 0;
  size_t under_way_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> error_ GUARDED_BY(mutex_);
};

}  // namespace

registry::Target TargetOf(const Route& route) {
  return {.served = route.served, .name_space = route.name_space, .name = route.name};
}

/// A client that names no field manager is named after its program.
registry::CommonOptions Common(const Call& call, const WriteOptions& options) {
  return {.dry_run = options.dry_run,
          .deadline = call.Deadline(kWriteTimeout),
          .manager = options.field_manager.empty()
                         ? merge::ManagerOfUserAgent(call.Header("user-agent"))
                         : options.field_manager};
}

registry::Done AnswerObject(const Parts& parts, const CallPtr& call, const ResponseFormat& format) {
  const bool removes = call->request.method == "DELETE";
  return [parts, call, format, removes](base::Result<registry::Outcome> outcome) {
    if (!outcome) return call->Fail(outcome.error());
    for (std::string& text : outcome->warnings) call->warnings.push_back(std::move(text));
    const Written& written = outcome->written;
    const int code = written.kind == Written::Kind::kCreated ? 201 : 200;
    const bool gone = removes && written.kind == Written::Kind::kDeleted;
    const int64_t revision = gone ? written.revision : written.object->Revision();
    call->Answer(code, ContentType(format),
                 RenderObject(format, *written.object, revision, parts.clock.Now()));
  };
}

void HandleCreate(const Parts& parts, const CallPtr& call) {
  const auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  const auto options = ParseWriteOptions(call->query, "CreateOptions");
  if (!options) return call->Fail(options.error());
  auto object = ReadObject(*call, options->validation);
  if (!object) return call->Fail(object.error());
  if (auto error = CheckNamespace(call->route, *object)) return call->Fail(*error);
  auto stored = ToStoredForm(call->route.served, *std::move(object));
  if (!stored) return call->Fail(stored.error());
  parts.registry.Create(TargetOf(call->route), *std::move(stored), Common(*call, *options),
                        AnswerObject(parts, call, *format));
}

void HandleUpdate(const Parts& parts, const CallPtr& call) {
  const auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  const auto options = ParseWriteOptions(call->query, "UpdateOptions");
  if (!options) return call->Fail(options.error());
  auto object = ReadObject(*call, options->validation);
  if (!object) return call->Fail(object.error());
  if (auto error = CheckNamespace(call->route, *object)) return call->Fail(*error);
  if (auto error = CheckName(call->route, *object)) return call->Fail(*error);
  auto stored = ToStoredForm(call->route.served, *std::move(object));
  if (!stored) return call->Fail(stored.error());
  parts.registry.Update(
      TargetOf(call->route), {.door = call->route.Door()},
      [next = *std::move(stored)](const codec::Value*) -> base::Result<registry::Next> {
        return registry::Next{.object = next};
      },
      Common(*call, *options), AnswerObject(parts, call, *format));
}

void HandleDelete(const Parts& parts, const CallPtr& call) {
  const auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  auto request = ReadDeleteOptions(*call);
  if (!request) return call->Fail(request.error());
  const bool object_back = call->route.served.row->strategy.delete_returns_object;
  registry::Done done = AnswerObject(parts, call, *format);
  if (!object_back) {
    done = [call, format = *format,
            shown = std::move(done)](base::Result<registry::Outcome> outcome) {
      if (!outcome || outcome->written.kind != Written::Kind::kDeleted) {
        return shown(std::move(outcome));
      }
      call->Answer(200, ContentType(format), RenderDeleted(format, *outcome->written.object));
    };
  }
  if (request->waits) {
    done = [parts, call, format = *format,
            shown = std::move(done)](base::Result<registry::Outcome> outcome) {
      if (!outcome || outcome->written.kind == Written::Kind::kDeleted) {
        return shown(std::move(outcome));
      }
      const state::Object& object = *outcome->written.object;
      call->Answer(202, ContentType(format),
                   RenderObject(format, object, object.Revision(), parts.clock.Now()));
    };
  }
  parts.registry.Delete(TargetOf(call->route), std::move(request->options),
                        Deletion(*call, *request), std::move(done));
}

void HandleDeleteCollection(const Parts& parts, const CallPtr& call) {
  const auto format = ResponseFormatOf(parts.registry, *call, true);
  if (!format) return call->Fail(format.error());
  const auto request = ReadDeleteOptions(*call);
  if (!request) return call->Fail(request.error());
  CollectObjects(
      parts, call,
      [parts, call, format = *format, request = *request](base::Result<Collection> collection) {
        if (!collection) return call->Fail(collection.error());
        std::make_shared<Removal>(parts, call, format, request, *std::move(collection))->Continue();
      });
}

}  // namespace berth::server
