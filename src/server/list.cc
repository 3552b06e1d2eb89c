#include "server/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_text.h"
#include "registry/object_errors.h"
#include "server/body.h"
#include "server/options.h"
#include "server/response_format.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

/// Lists of up to this many bytes are sent as one body with a length. Longer lists are rendered in
/// pieces as the client reads them, so that a client that does not read costs little memory.
constexpr size_t kWholeList = size_t{1} << 20;
/// The same for clients that accept gzip, which needs the whole body.
constexpr size_t kGzipList = size_t{24} << 20;
/// Filtering more objects than this is left to a worker.
constexpr size_t kQuickLook = 2000;
constexpr size_t kPastPage = 500;

/// A list that is being collected.
struct Listing {
  CallPtr call;
  ListOptions options;
  Filter filter;
  ResponseFormat format;
  std::string prefix;
  std::string from = {};  // After this key. Empty means from the beginning.
  ListMeta meta = {};
  std::vector<state::ObjectPtr> objects = {};

  bool IsFull() const {
    return options.limit > 0 && objects.size() >= static_cast<size_t>(options.limit);
  }
};
using ListingPtr = std::shared_ptr<Listing>;

/// Renders the items of a list as the client reads them.
class ListSource final : public http::Source {
 public:
  ListSource(ResponseFormat format, ListMeta meta, std::vector<state::ObjectPtr> objects,
             size_t items_bytes, base::WallTime now)
      : format_(format),
        meta_(std::move(meta)),
        objects_(std::move(objects)),
        items_bytes_(items_bytes),
        now_(now) {}

  http::Pulled Pull(http::Pieces& out, size_t room) override {
    std::string text;
    if (next_ == 0) text = ListHead(format_, meta_, items_bytes_);
    while (next_ < objects_.size() && text.size() < room) {
      if (next_ > 0) text += ListSeparator(format_);
      AppendItem(format_, *objects_[next_], now_, text);
      objects_[next_++].reset();
    }
    const bool last = next_ == objects_.size();
    if (last) text += ListTail(format_, meta_);
    out.Add(std::move(text));
    return last ? http::Pulled::kEnd : http::Pulled::kMore;
  }

 private:
  const ResponseFormat format_;
  const ListMeta meta_;
  std::vector<state::ObjectPtr> objects_;
  const size_t items_bytes_;  // Only for protobuf.
  const base::WallTime now_;
  size_t next_ = 0;
};

base::Error Busy() {
  return {.reason = base::Reason::kTooManyRequests,
          .message = "the server is busy with other lists; try again later"};
}

/// Sends a list in one body, or in pieces if it is longer than `whole`.
void SendNow(const ListingPtr& listing, size_t bytes, size_t whole, base::WallTime now) {
  Call& call = *listing->call;
  const ResponseFormat& format = listing->format;
  const bool in_parts =
      format.media == Media::kProtobuf || (format.media == Media::kJson && !format.pretty);
  if (in_parts && bytes > whole) {
    const size_t items =
        format.media == Media::kProtobuf ? ItemsBytes(format, listing->objects, now) : 0;
    return call.Stream(200, ContentType(format),
                       std::make_unique<ListSource>(format, std::move(listing->meta),
                                                    std::move(listing->objects), items, now));
  }
  if (!in_parts || format.media == Media::kProtobuf || listing->objects.empty()) {
    return call.Answer(200, ContentType(format),
                       RenderList(format, listing->meta, listing->objects, now));
  }
  std::string text = ListHead(format, listing->meta, 0);
  for (const state::ObjectPtr& object : listing->objects) {
    if (object != listing->objects.front()) text += ListSeparator(format);
    AppendItem(format, *object, now, text);
  }
  text += ListTail(format, listing->meta);
  call.Answer(200, ContentType(format), std::move(text));
}

void Send(const Parts& parts, const ListingPtr& listing) {
  const base::WallTime now = parts.clock.Now();
  const std::string_view encodings = listing->call->Header("accept-encoding");
  const size_t whole = encodings.find("gzip") != std::string_view::npos ? kGzipList : kWholeList;
  size_t bytes = 0;
  for (const state::ObjectPtr& object : listing->objects) bytes += object->JsonSize();
  // A long list in protobuf is encoded before its first byte is sent, to learn its length.
  if (listing->format.media == Media::kProtobuf && bytes > kWholeList) {
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

/// Returns the only key that can match, if the selectors name one object.
std::optional<std::string> OnlyKey(const Listing& listing) {
  const auto name = listing.filter.Name();
  if (!name || name->empty() || listing.call->route.AcrossNamespaces()) return std::nullopt;
  return listing.prefix + std::string(*name);
}

/// Fills the listing from a snapshot.
void Collect(const ListingPtr& listing, const state::Snapshot& snapshot) {
  listing->meta.revision = snapshot.Revision();
  if (const auto key = OnlyKey(*listing); key && listing->from.empty()) {
    state::ObjectPtr object = snapshot.Find(*key);
    if (object != nullptr && listing->filter.Matches(*object)) {
      listing->objects.push_back(std::move(object));
    }
    return;
  }
  state::SnapshotIterator at = snapshot.Seek(listing->prefix, listing->from);
  if (at.Valid() && !listing->from.empty() && at.Get()->KeyIs(listing->from)) at.Next();
  for (; at.Valid() && !listing->IsFull(); at.Next()) {
    if (listing->filter.Matches(*at.Get())) listing->objects.push_back(at.Get());
  }
  // With a filter, there is another page only if a later object matches as well.
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
  if (!listing->filter.TakesTime() || OnlyKey(*listing) ||
      snapshot->Count(listing->prefix) <= kQuickLook) {
    Collect(listing, *snapshot);
    return done({});
  }
  const bool taken = parts.workers.Run([listing, snapshot, done] {
    Collect(listing, *snapshot);
    done({});
  });
  if (!taken) done(tl::unexpected(Busy()));
}

/// Makes an error of Expired, when history no longer has the revision of the list. A client that
/// has read a part of the list gets a token to continue at the current revision.
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
              // Beyond this page this is an estimate from the current objects, as the API allows.
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

/// Fills the listing from the state that the options ask for:
///
/// - With a continue token: the revision in the token, or the current snapshot if that is -1.
/// - Without a resourceVersion: the newest state of the store.
/// - With a resourceVersion and the match Exact: exactly that revision. The same applies to a
///   resourceVersion above 0 with a limit and without a match.
/// - With any other resourceVersion: the current snapshot, once it is at least as new.
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

void HandleList(const Parts& parts, const CallPtr& call) {
  const auto listing = MakeListing(parts, call);
  if (!listing) return call->Fail(listing.error());
  const auto format = ResponseFormatOf(parts.registry, *call, true);
  if (!format) return call->Fail(format.error());
  (*listing)->format = *format;
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
  const auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  const auto answer = [parts, call, format = *format](base::Result<state::SnapshotPtr> snapshot) {
    if (!snapshot) return call->Fail(snapshot.error());
    const Route& route = call->route;
    const auto name = route.served.StoredName(route.name);
    const state::ObjectPtr object = name ? (*snapshot)->Find(parts.registry.GetResources().Key(
                                               route.served.row->resource, route.name_space, *name))
                                         : nullptr;
    if (object == nullptr) return call->Fail(registry::NotFound(route.served, route.name));
    call->Answer(200, ContentType(format),
                 RenderObject(format, *object, object->Revision(), call->Time()));
  };
  if (!*version) {
    return parts.follower.ReadCurrent(call->Deadline(kRequestTimeout), answer);
  }
  parts.follower.AwaitRevision(**version, call->Deadline(kAwaitRevision), answer);
}

}  // namespace berth::server
