#include "server/write.h"

#include <atomic>
#include <utility>

#include "codec/read.h"
#include "server/body.h"
#include "server/list.h"
#include "server/options.h"
#include "server/render.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

using commit::Written;

registry::Target TargetOf(const Route& route) {
  return {.served = route.served, .name_space = route.name_space, .name = route.name};
}

registry::CommonOptions Common(const Parts& parts, bool dry_run) {
  return {.dry_run = dry_run, .deadline = parts.clock.Steady() + kWriteTimeout};
}

/// Answers with the object a write left behind.
registry::Done AnswerObject(const Parts& parts, const CallPtr& call, const Form& form) {
  return [parts, call, form](base::Result<registry::Outcome> outcome) {
    if (!outcome) return call->Fail(outcome.error());
    for (std::string& text : outcome->warnings) call->warnings.push_back(std::move(text));
    const Written& written = outcome->written;
    const int code = written.kind == Written::Kind::kCreated ? 201 : 200;
    const int64_t revision =
        written.kind == Written::Kind::kDeleted ? written.revision : written.object->Revision();
    call->Answer(code, ContentType(form),
                 RenderObject(form, *written.object, revision, parts.clock.Now()));
  };
}

/// The Status that says what was deleted.
std::string RenderDeleted(const Form& form, const state::Object& object) {
  const auto value = registry::Registry::Decode(*form.served.row, object);
  const api::Kind& kind = form.served.Kind();
  return RenderDocument(
      form, DeletedStatus({.name = std::string(object.Name()),
                           .group = std::string(kind.group),
                           .kind = std::string(kind.plural),
                           .uid = value ? std::string(codec::StringAt(*value, "metadata", "uid"))
                                        : std::string()}));
}

}  // namespace

void HandleCreate(const Parts& parts, const CallPtr& call) {
  const auto form = FormOf(*call, false);
  if (!form) return call->Fail(form.error());
  const auto options = ParseWriteOptions(call->query, "CreateOptions");
  if (!options) return call->Fail(options.error());
  auto object = ReadObject(*call, options->validation);
  if (!object) return call->Fail(object.error());
  if (auto error = CheckNamespace(call->route, *object)) return call->Fail(*error);
  parts.registry.Create(TargetOf(call->route), *std::move(object), Common(parts, options->dry_run),
                        AnswerObject(parts, call, *form));
}

void HandleUpdate(const Parts& parts, const CallPtr& call) {
  const auto form = FormOf(*call, false);
  if (!form) return call->Fail(form.error());
  const auto options = ParseWriteOptions(call->query, "UpdateOptions");
  if (!options) return call->Fail(options.error());
  auto object = ReadObject(*call, options->validation);
  if (!object) return call->Fail(object.error());
  if (auto error = CheckName(call->route, *object)) return call->Fail(*error);
  if (auto error = CheckNamespace(call->route, *object)) return call->Fail(*error);
  parts.registry.Update(
      TargetOf(call->route), call->route.Door(),
      [next = *std::move(object)](const codec::Value*) -> base::Result<codec::Value> {
        return next;
      },
      Common(parts, options->dry_run), AnswerObject(parts, call, *form));
}

void HandleDelete(const Parts& parts, const CallPtr& call) {
  const auto form = FormOf(*call, false);
  if (!form) return call->Fail(form.error());
  auto request = ReadDeleteOptions(*call);
  if (!request) return call->Fail(request.error());
  const bool object_back = call->route.served.row->strategy.delete_returns_object;
  registry::Done done = AnswerObject(parts, call, *form);
  if (!object_back && form->transform == Transform::kNone) {
    done = [call, form = *form, shown = std::move(done)](base::Result<registry::Outcome> outcome) {
      if (!outcome || outcome->written.kind != Written::Kind::kDeleted) {
        return shown(std::move(outcome));
      }
      call->Answer(200, ContentType(form), RenderDeleted(form, *outcome->written.object));
    };
  }
  if (request->waits) {
    done = [parts, call, form = *form,
            shown = std::move(done)](base::Result<registry::Outcome> outcome) {
      if (!outcome || outcome->written.kind == Written::Kind::kDeleted) {
        return shown(std::move(outcome));
      }
      const state::Object& object = *outcome->written.object;
      call->Answer(202, ContentType(form),
                   RenderObject(form, object, object.Revision(), parts.clock.Now()));
    };
  }
  parts.registry.Delete(TargetOf(call->route), std::move(request->options),
                        Common(parts, request->dry_run), std::move(done));
}

void HandleDeleteCollection(const Parts& parts, const CallPtr& call) {
  const auto form = FormOf(*call, true);
  if (!form) return call->Fail(form.error());
  const auto request = ReadDeleteOptions(*call);
  if (!request) return call->Fail(request.error());
  CollectObjects(
      parts, call,
      [parts, call, form = *form, request = *request](
          base::Result<std::vector<state::ObjectPtr>> objects, int64_t revision) {
        if (!objects) return call->Fail(objects.error());
        struct Progress {
          std::vector<state::ObjectPtr> objects;
          std::atomic<size_t> left = 0;
          std::atomic<bool> failed = false;
        };
        auto progress = std::make_shared<Progress>();
        progress->objects = *std::move(objects);
        progress->left = progress->objects.size() + 1;
        const auto one_less = [parts, call, form, revision, progress] {
          if (--progress->left > 0 || progress->failed) return;
          call->Answer(
              200, ContentType(form),
              RenderList(form, {.revision = revision}, progress->objects, parts.clock.Now()));
        };
        for (const state::ObjectPtr& object : progress->objects) {
          registry::Target target{.served = call->route.served,
                                  .name_space = std::string(object->Namespace()),
                                  .name = std::string(object->Name())};
          parts.registry.Delete(
              std::move(target), request.options, Common(parts, request.dry_run),
              [call, progress, one_less](const base::Result<registry::Outcome>& outcome) {
                // One that is gone by now is as good as deleted.
                if (!outcome && outcome.error().reason != base::Reason::kNotFound &&
                    !progress->failed.exchange(true)) {
                  call->Fail(outcome.error());
                }
                one_less();
              });
        }
        one_less();
      });
}

}  // namespace berth::server
