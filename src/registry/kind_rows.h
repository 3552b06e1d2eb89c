// The kinds of this server, one row each: how a kind is named and described (api::Kind), where its
// objects are stored, in which views they are served, and its strategy, which says what is filled
// in, checked and refused when an object is written. The server and commit know kinds only through
// these rows.
//
// Immutable once made. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "ip/addr.h"
#include "rules/field_error.h"
#include "rules/metadata.h"
#include "state/resource.h"

namespace berth::registry {

/// What a request writes: the object itself, or one of its subresources.
enum class Door : uint8_t { kMain, kStatus, kFinalize };

/// Returns "status" and so on, or an empty string for the object itself.
std::string_view SubresourceOf(Door door);

/// Features that can be switched off (--feature-gates).
struct Gates {
  bool static_ips = true;     // ServiceIPStaticSubrange
  bool static_ports = true;   // ServiceNodePortStaticSubrange
  bool lb_node_ports = true;  // ServiceLBNodePortControl
  bool dual_stack = true;     // IPv6DualStack
};

/// What strategies need to know beyond the object.
struct Settings {
  /// The families of Services' addresses, the default one first.
  std::vector<ip::Family> families = {ip::Family::kV4};
  Gates gates = {};
};

/// A kind in one API version. The same stored object may be served in several views.
struct View {
  const api::Kind* kind = nullptr;
  /// Convert to and from the stored form. Null if the view is the stored form.
  codec::Value (*to_stored)(const codec::Value&) = nullptr;
  codec::Value (*from_stored)(const codec::Value&) = nullptr;
  /// Returns what is wrong with an object, in the fields of this view. Called before to_stored.
  /// Null if everything is checked in the stored form.
  rules::FieldErrors (*validate)(const codec::Value&) = nullptr;
  /// Convert names, if objects have other names in this view than they are stored under.
  /// name_to_stored returns nullopt if no object can have the name. name_from_stored returns
  /// nullopt if the object has no name in this view and is not shown.
  std::optional<std::string> (*name_to_stored)(std::string_view) = nullptr;
  std::optional<std::string> (*name_from_stored)(std::string_view) = nullptr;
  /// from_stored sees what Strategy::hide takes out. For a new object, to_stored says what will be
  /// hidden.
  bool shows_hidden = false;
  /// Set if objects cannot be changed through this view, but may be applied again unchanged.
  /// Returns whether `next`, as to_stored makes it, says the same as `old`; if so, `next` gets the
  /// fields of `old`. Both contain what is hidden. Null if objects can be changed through this view
  /// too.
  bool (*repeats)(codec::Value& next, const codec::Value& old) = nullptr;
};

/// An object that may need another one, which then cannot be deleted.
struct Keeper {
  const api::Kind* kind = nullptr;
  std::string name_space = {};
  std::string name = {};
};

/// The functions work on canonical objects in the stored form. A null function does nothing.
struct Strategy {
  void (*fill)(codec::Value&) = nullptr;  // Called after every decode.
  void (*prepare_create)(codec::Value&, const Settings&) = nullptr;
  rules::FieldErrors (*validate_create)(const codec::Value&, const View&) = nullptr;
  void (*prepare_update)(codec::Value&, const codec::Value& old, Door, const Settings&) = nullptr;
  rules::FieldErrors (*validate_update)(const codec::Value&, const codec::Value& old, Door,
                                        const View&) = nullptr;
  std::vector<std::string> (*warn)(const codec::Value&, Door) = nullptr;
  /// Returns further warnings about a new object. They come before those of `warn`.
  std::vector<std::string> (*warn_create)(const codec::Value&) = nullptr;
  /// Decides families and the like before validation. May fail.
  rules::FieldErrors (*complete)(codec::Value&, const codec::Value* old, const Settings&) = nullptr;
  /// Called before an object is shown or stored. Adds what older versions did not write or showed
  /// differently.
  void (*decorate)(codec::Value&, const Settings&) = nullptr;
  /// Returns the object that may need this one when this one is to be deleted. `objection` returns
  /// its reason against the deletion, if it has one.
  std::optional<Keeper> (*keeper)(const codec::Value&) = nullptr;
  std::optional<std::string> (*objection)(const codec::Value&,
                                          const codec::Value& keeper) = nullptr;
  /// Hidden parts are stored with an object and never shown to clients. `hide` takes them out of
  /// the object, and `reveal` puts them back.
  std::string (*hide)(codec::Value&) = nullptr;
  void (*reveal)(codec::Value&, std::string_view hidden) = nullptr;
  /// Returns what counts as hidden for an object that another server wrote and that has no hidden
  /// parts.
  std::string (*assume)(const codec::Value&) = nullptr;
  /// Returns when an object ends by itself, if it does. It is asked each time the object is put.
  std::optional<base::WallTime> (*ends)(const codec::Value&, std::string_view hidden) = nullptr;
  /// Converts the stored bytes for the snapshot, if codec/storage.h cannot read them.
  base::Result<state::WireText> (*to_wire)(std::string_view stored) = nullptr;
  /// Members in which objects differ from each other, for kinds with very many objects
  /// (state::MarkOwn).
  std::span<const std::string_view> own_members = {};
  /// Why clients cannot write objects of the kind. Empty if they can.
  std::string_view read_only = {};
  bool name_as_given = false;          // generateName is used as the name itself.
  bool put_creates = false;            // A PUT of an object that does not exist creates it.
  bool needs_version = false;          // A PUT must say which version it replaces.
  bool delete_returns_object = false;  // Otherwise a delete returns a Status.
  bool keeps_spec_finalizers = false;  // Namespaces are removed only when these finalizers are gone
                                       // too.
  bool owns_nothing = false;           // Events: no other object is deleted before or after one.
  std::chrono::seconds ttl{0};
};

struct Row {
  uint16_t resource = 0;  // Its position in state::Resources.
  const api::Kind* kind = nullptr;
  std::string prefix = {};       // "/registry/services/specs/"
  std::vector<View> views = {};  // The stored form first.
  bool served = true;            // Otherwise only the server itself reads and writes it.
  Strategy strategy = {};
};

inline rules::Scope ScopeOf(const Row& row) {
  return row.kind->namespaced ? rules::Scope::kNamespaced : rules::Scope::kCluster;
}

/// Returns an object in the stored form as the snapshot keeps it. For `hidden`, see Strategy::hide.
state::WireText ToWireText(const Row& row, const codec::Value& object,
                           std::string_view hidden = {});
/// Returns the same as the store keeps it.
std::string ToStored(const Row& row, const codec::Value& object, std::string_view hidden = {});

/// Decodes an object of the snapshot without metadata.managedFields and resourceVersion. Cheaper
/// than Registry::Decode, for callers that need neither.
base::Result<codec::Value> DecodeWithoutManagedFields(const Row& row, const state::Object& object);

class KindHooks;

/// A kind as a request names it.
struct Served {
  const Row* row = nullptr;
  const View* view = nullptr;

  const api::Kind& Kind() const { return *view->kind; }
  bool IsStoredForm() const { return view->to_stored == nullptr; }

  /// Convert the name of an object in this view to its stored name, and back. Return nullopt as in
  /// View.
  std::optional<std::string> StoredName(std::string_view name) const;
  std::optional<std::string> ShownName(std::string_view stored) const;
  /// Returns an object of the snapshot in the fields of this view, given its stored form. `hooks`
  /// are those of the kind. What it says about other objects is as they are now, except for what
  /// Kubernetes' own view of a kind with hidden parts shows, which is as it is stored.
  codec::Value Show(codec::Value stored, const state::Object& object, const KindHooks& hooks) const;
};

/// Returns the error for a name that no object has in the view. A name under which the view's
/// objects are stored gets an error that says what the name is in the view.
base::Error NotFound(const Served& served, const std::string& name);

/// Returns the error for a client that wants to change an object through a view that does not allow
/// that.
base::Error ChangedAsStored(const Served& served, const std::string& name);

class Kinds {
 public:
  /// Makes all kinds of this server.
  Kinds();

  std::span<const Row> Rows() const { return rows_; }
  const Row& NamespaceRow() const { return rows_[namespaces_]; }
  /// Returns the row of a stored kind, or null if it has none.
  const Row* FindRow(const api::Kind& kind) const;

  /// Finds a kind by group, version and plural. Returns nullopt if it is not served.
  std::optional<Served> Find(std::string_view group, std::string_view version,
                             std::string_view plural) const;

  /// Every view that discovery lists: the core group first, Berth's own groups last.
  const std::vector<const api::Kind*>& Views() const { return views_; }
  /// Every view that is served, also those that discovery does not list.
  std::vector<const api::Kind*> ServedViews() const;

  /// Returns what the follower needs to know about the kinds.
  state::Resources MakeResources(const Settings& settings = {}) const;

 private:
  std::vector<Row> rows_;
  std::vector<const api::Kind*> views_;
  size_t namespaces_ = 0;
};

/// The field manager of what the server writes for itself.
inline constexpr const char* kOwnManager = "berth";

/// How long a server that has ended stays among the replicas.
inline constexpr std::chrono::seconds kReplicaTtl{60};

/// The strategies, by kind (strategies.cc, endpoint_strategies.cc, networking_strategies.cc,
/// allocation_strategies.cc).
Strategy NamespaceStrategy();
Strategy ServiceStrategy();
Strategy EventStrategy();
Strategy LeaseStrategy();
Strategy EndpointsStrategy();
Strategy EndpointSliceStrategy();
Strategy NodeStrategy();
Strategy ServiceCidrStrategy();
Strategy IpAddressStrategy();
Strategy IpRangeStrategy();
Strategy NodePortRangeStrategy();
Strategy NodePortStrategy();
Strategy ReplicaStrategy();
Strategy RangeAllocationStrategy();

}  // namespace berth::registry
