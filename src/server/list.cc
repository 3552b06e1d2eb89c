#include "server/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_text.h"
#include "registry/errors.h"
#include "server/body.h"
#include "server/options.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

/// Lists of up to this many bytes are sent as one body with a length; longer ones in pieces, made
/// as the client takes them: one that takes none must not cost a whole list.
constexpr size_t kWholeList = size_t{1} << 20;
/// The same for clients that take gzip, which needs the body whole.
constexpr size_t kGzipList = size_t{24} << 20;
/// Looking into more objects than this is for a worker.
constexpr size_t kQuickLook = 2000;
constexpr size_t kPastPage = 500;

/// A list on its way.
struct Listing {
  CallPtr call;
  ListOptions options;
  Filter filter;
  Form form;
  std::string prefix;
  std::string from = {};  // Behind this key; empty: from the beginning.
  ListMeta meta = {};
  std::vector<state::ObjectPtr> objects = {};

  bool IsFull() const {
    return options.limit > 0 && objects.size() >= static_cast<size_t>(options.limit);
  }
};
using ListingPtr = std::shared_ptr<Listing>;

/// The items of a list, rendered as the client takes them.
class ListSource final : public http::Source {
 public:
  ListSource(Form form, ListMeta meta, std::vector<state::ObjectPtr> objects, size_t items_bytes,
             base::WallTime now)
      : form_(form),
        meta_(std::move(meta)),
        objects_(std::move(objects)),
        items_bytes_(items_bytes),
        now_(now) {}

  http::Pulled Pull(http::Pieces& out, size_t room) override {
    std::string text;
    if (next_ == 0) text = ListHead(form_, meta_, items_bytes_);
    while (next_ < objects_.size() && text.size() < room) {
      if (next_ > 0) text += ListSeparator(form_);
      AppendItem(form_, *objects_[next_], now_, text);
      objects_[next_++].reset();
    }
    const bool last = next_ == objects_.size();
    if (last) text += ListTail(form_, meta_);
    out.Add(std::move(text));
    return last ? http::Pulled::kEnd : http::Pulled::kMore;
  }

 private:
  const Form form_;
  const ListMeta meta_;
  std::vector<state::ObjectPtr> objects_;
  const size_t items_bytes_;  // Of protobuf.
  const base::WallTime now_;
  size_t next_ = 0;
};

base::Error Busy() {
  return {.reason = base::Reason::kTooManyRequests,
          .message = "the server is busy with other lists; try again later"};
}

/// In one body, or in pieces if it is longer than `whole`.
void SendNow(const ListingPtr& listing, size_t bytes, size_t whole, base::WallTime now) {
  Call& call = *listing->call;
  const Form& form = listing->form;
  const bool in_parts =
      form.media == Media::kProtobuf || (form.media == Media::kJson && !form.pretty);
  if (in_parts && bytes > whole) {
    const size_t items =
        form.media == Media::kProtobuf ? ItemsBytes(form, listing->objects, now) : 0;
    return call.Stream(200, ContentType(form),
                       std::make_unique<ListSource>(form, std::move(listing->meta),
                                                    std::move(listing->objects), items, now));
  }
  if (!in_parts || form.media == Media::kProtobuf) {
    return call.Answer(200, ContentType(form),
                       RenderList(form, listing->meta, listing->objects, now));
  }
  std::string text = ListHead(form, listing->meta, 0);
  for (const state::ObjectPtr& object : listing->objects) {
    if (object != listing->objects.front()) text += ListSeparator(form);
    AppendItem(form, *object, now, text);
  }
  text += ListTail(form, listing->meta);
  call.Answer(200, ContentType(form), std::move(text));
}

void Send(const Parts& parts, const ListingPtr& listing) {
  const base::WallTime now = parts.clock.Now();
  const std::string_view encodings = listing->call->Header("accept-encoding");
  const size_t whole = encodings.find("gzip") != std::string_view::npos ? kGzipList : kWholeList;
  size_t bytes = 0;
  for (const state::ObjectPtr& object : listing->objects) bytes += object->JsonSize();
  // A long list in protobuf is encoded before its first byte goes out, to learn how long it is.
  if (listing->form.media == Media::kProtobuf && bytes > kWholeList) {
    const auto send = [listing, bytes, whole, now] { SendNow(listing, bytes, whole, now); };
    if (!parts.workers.Run(send)) listing->call->Fail(Busy());
    return;
  }
  SendNow(listing, bytes, whole, now);
}

std::string TokenFor(const ListingPtr& listing, int64_t revision) {
  return WriteContinueToken(
      {.version = revision,
       .after = listing->objects.back()->Key().substr(listing->prefix.size())});
}

/// Fills the listing from a snapshot.
void Collect(const ListingPtr& listing, const state::Snapshot& snapshot) {
  listing->meta.revision = snapshot.Revision();
  state::Cursor at = snapshot.Seek(listing->prefix, listing->from);
  if (at.Valid() && !listing->from.empty() && at.Get()->KeyIs(listing->from)) at.Next();
  for (; at.Valid() && !listing->IsFull(); at.Next()) {
    if (listing->filter.Matches(*at.Get())) listing->objects.push_back(at.Get());
  }
  // With a filter, there is more only if something behind the page matches as well.
  while (at.Valid() && !listing->filter.Matches(*at.Get())) at.Next();
  if (!at.Valid() || listing->objects.empty()) return;
  listing->meta.continue_token = TokenFor(listing, snapshot.Revision());
  if (listing->filter.IsEmpty()) {
    listing->meta.remaining =
        static_cast<int64_t>(snapshot.Count(listing->prefix, at.Get()->Key()));
  }
}

using Collected = std::function<void(base::Result<void>)>;

void CollectFrom(const Parts& parts, const ListingPtr& listing, const state::SnapshotPtr& snapshot,
                 const Collected& done) {
  if (!listing->filter.TakesTime() || snapshot->Count(listing->prefix) <= kQuickLook) {
    Collect(listing, *snapshot);
    return done({});
  }
  const bool taken = parts.workers.Run([listing, snapshot, done] {
    Collect(listing, *snapshot);
    done({});
  });
  if (!taken) done(tl::unexpected(Busy()));
}

/// History has no longer what the listing began with. Who has seen a part of it gets a token with
/// which to go on all the same, in what is there now.
base::Error ExpiredError(const ListingPtr& listing, base::Error error) {
  if (error.reason != base::Reason::kExpired) return error;
  const auto token = ReadContinueToken(listing->options.continue_token);
  if (!token) return error;
  error.message =
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.";
  listing->meta.continue_token = WriteContinueToken({.version = -1, .after = token->after});
  return error;
}

/// Fills the listing from the store's history, page by page.
void CollectPast(const Parts& parts, const ListingPtr& listing, int64_t revision,
                 const Collected& done) {
  listing->meta.revision = revision;
  parts.past.ReadPage(
      listing->prefix, listing->from, revision, kPastPage,
      [parts, listing, revision, done](base::Result<state::PastPage> page) {
        if (!page) return done(tl::unexpected(ExpiredError(listing, std::move(page.error()))));
        for (size_t i = 0; i < page->objects.size(); ++i) {
          const state::ObjectPtr& object = page->objects[i];
          if (!listing->filter.Matches(*object)) continue;
          if (listing->IsFull()) {
            listing->meta.continue_token = TokenFor(listing, revision);
            if (listing->filter.IsEmpty()) {
              // Beyond this page it is an estimate, as the API allows: what is there now.
              listing->meta.remaining = static_cast<int64_t>(
                  page->more ? parts.follower.Current()->Count(listing->prefix, object->Key())
                             : page->objects.size() - i);
            }
            return done({});
          }
          listing->objects.push_back(object);
        }
        if (!page->more) return done({});
        listing->from = page->last_key;
        CollectPast(parts, listing, revision, done);
      });
}

/// At which state: see the table in the design of lists.
void CollectListing(const Parts& parts, const ListingPtr& listing, const Collected& done) {
  const ListOptions& options = listing->options;
  if (!options.continue_token.empty()) {
    const auto token = ReadContinueToken(options.continue_token);
    if (!token) return done(tl::unexpected(token.error()));
    listing->from = listing->prefix + token->after;
    const state::SnapshotPtr now = parts.follower.Current();
    if (token->version < 0 || token->version == now->Revision()) {
      return CollectFrom(parts, listing, now, done);
    }
    return CollectPast(parts, listing, token->version, done);
  }
  const auto from_snapshot = [parts, listing, done](base::Result<state::SnapshotPtr> snapshot) {
    if (!snapshot) return done(tl::unexpected(std::move(snapshot.error())));
    CollectFrom(parts, listing, *snapshot, done);
  };
  const base::SteadyTime soon = listing->call->Deadline(kAwaitRevision);
  if (!options.version) {
    return parts.follower.ReadCurrent(listing->call->Deadline(kRequestTimeout), from_snapshot);
  }
  const bool exact =
      options.match == VersionMatch::kExact ||
      (options.match == VersionMatch::kUnset && options.limit > 0 && *options.version > 0);
  if (!exact) return parts.follower.AwaitRevision(*options.version, soon, from_snapshot);
  parts.follower.AwaitRevision(*options.version, soon,
                               [parts, listing, done](base::Result<state::SnapshotPtr> snapshot) {
                                 if (!snapshot)
                                   return done(tl::unexpected(std::move(snapshot.error())));
                                 const int64_t wanted = *listing->options.version;
                                 if ((*snapshot)->Revision() == wanted)
                                   return CollectFrom(parts, listing, *snapshot, done);
                                 CollectPast(parts, listing, wanted, done);
                               });
}

base::Result<ListingPtr> MakeListing(const Parts& parts, const CallPtr& call) {
  auto options = ParseListOptions(call->query);
  if (!options) return tl::unexpected(std::move(options.error()));
  auto filter = Filter::Make(call->route.served, *options);
  if (!filter) return tl::unexpected(std::move(filter.error()));
  auto listing = std::make_shared<Listing>();
  listing->call = call;
  listing->options = *std::move(options);
  listing->filter = *std::move(filter);
  listing->prefix = ScopePrefix(parts, call->route, listing->filter);
  return listing;
}

}  // namespace

std::string ScopePrefix(const Parts& parts, const Route& route, const Filter& filter) {
  const state::Resources& resources = parts.registry.GetResources();
  const uint16_t resource = route.served.row->resource;
  if (!route.served.Kind().namespaced) return resources.Prefix(resource);
  if (!route.name_space.empty()) return resources.Prefix(resource, route.name_space);
  const auto only = filter.Namespace();
  return only && !only->empty() ? resources.Prefix(resource, *only) : resources.Prefix(resource);
}

base::Result<Form> FormOf(const Call& call, bool of_list) {
  Form form{.served = call.route.served,
            .media = call.accept.media,
            .transform = call.accept.transform,
            .transform_version = call.accept.transform_version,
            .pretty = call.accept.media == Media::kJson && call.Pretty()};
  const api::Kind& kind = form.served.Kind();
  const std::string go_type =
      fmt::format("*{}.{}", GoPackage(kind.group), of_list ? kind.list_kind : kind.kind);
  if (of_list && form.transform == Transform::kPartial) {
    return base::Fail(
        base::Reason::kNotAcceptable,
        fmt::format("you requested PartialObjectMetadata, but the requested object is "
                    "a list ({})",
                    go_type));
  }
  if (!of_list && form.transform == Transform::kPartialList) {
    return base::Fail(base::Reason::kNotAcceptable,
                      fmt::format("you requested PartialObjectMetadataList, but the requested "
                                  "object is not a list ({})",
                                  go_type));
  }
  const std::string_view include = call.query.Get("includeObject");
  if (include == "None") {
    form.include = IncludeObject::kNone;
  } else if (include == "Object") {
    form.include = IncludeObject::kObject;
  } else if (!include.empty() && include != "Metadata" && form.transform == Transform::kTable) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("Unable to convert to Table as requested: includeObject: Invalid "
                                  "value: {}: must be 'Metadata', 'Object', 'None', or empty",
                                  base::GoQuoted(include)));
  }
  return form;
}

void HandleList(const Parts& parts, const CallPtr& call) {
  const auto listing = MakeListing(parts, call);
  if (!listing) return call->Fail(listing.error());
  const auto form = FormOf(*call, true);
  if (!form) return call->Fail(form.error());
  (*listing)->form = *form;
  CollectListing(parts, *listing, [parts, listing = *listing](base::Result<void> collected) {
    if (!collected) return listing->call->Fail(collected.error(), listing->meta.continue_token);
    Send(parts, listing);
  });
}

void CollectObjects(const Parts& parts, const CallPtr& call,
                    std::function<void(base::Result<Collection>)> done) {
  const auto listing = MakeListing(parts, call);
  if (!listing) return done(tl::unexpected(listing.error()));
  CollectListing(
      parts, *listing, [listing = *listing, done = std::move(done)](base::Result<void> collected) {
        if (!collected) return done(tl::unexpected(collected.error()));
        done(Collection{.meta = std::move(listing->meta), .objects = std::move(listing->objects)});
      });
}

void HandleGet(const Parts& parts, const CallPtr& call) {
  const auto version = ParseGetVersion(call->query);
  if (!version) return call->Fail(version.error());
  const auto form = FormOf(*call, false);
  if (!form) return call->Fail(form.error());
  const auto answer = [parts, call, form = *form](base::Result<state::SnapshotPtr> snapshot) {
    if (!snapshot) return call->Fail(snapshot.error());
    const Route& route = call->route;
    const auto name = route.served.StoredName(route.name);
    const state::ObjectPtr object = name ? (*snapshot)->Find(parts.registry.GetResources().Key(
                                               route.served.row->resource, route.name_space, *name))
                                         : nullptr;
    if (object == nullptr) return call->Fail(registry::NotFound(route.served.Kind(), route.name));
    call->Answer(200, ContentType(form),
                 RenderObject(form, *object, object->Revision(), call->Time()));
  };
  if (!*version) {
    return parts.follower.ReadCurrent(call->Deadline(kRequestTimeout), answer);
  }
  parts.follower.AwaitRevision(**version, call->Deadline(kAwaitRevision), answer);
}

}  // namespace berth::server
