// The kinds this server has, one row each: how it is named and described (api::Kind), where its
// objects lie, in which views they are served, and its strategy: what is filled in, checked and
// refused when one is written. The server and commit know kinds only through these rows.
//
// Immutable once made; any thread.
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

/// Through which door an object is written: itself, or one of its subresources.
enum class Door : uint8_t { kMain, kStatus, kFinalize };

/// "status"; empty for the object itself.
std::string_view SubresourceOf(Door door);

/// What can be switched off (--feature-gates).
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

/// A kind under one API version: the same stored object may be served in several.
struct View {
  const api::Kind* kind = nullptr;
  /// To and from the stored form; null: it is the stored form.
  codec::Value (*to_stored)(const codec::Value&) = nullptr;
  codec::Value (*from_stored)(const codec::Value&) = nullptr;
  /// What is wrong with an object, in the fields of this view; asked before to_stored. Null: all
  /// that there is to check is checked in the stored form.
  rules::FieldErrors (*validate)(const codec::Value&) = nullptr;
  /// Objects that are called otherwise here than they are stored: to the stored name and back.
  /// Nothing: there can be no object of this name; or it has none here, and is not seen.
  std::optional<std::string> (*name_to_stored)(std::string_view) = nullptr;
  std::optional<std::string> (*name_from_stored)(std::string_view) = nullptr;
  /// from_stored sees what Strategy::hide takes out, and to_stored, of a new object, says what that
  /// shall be.
  bool shows_hidden = false;
  /// Objects are changed in their stored form only, and through this view are at most applied again
  /// as they are: whether `next`, as to_stored makes it, says nothing else than `old`, whose fields
  /// it gets then. Both have what is hidden in them. Null: they are changed here too.
  bool (*repeats)(codec::Value& next, const codec::Value& old) = nullptr;
};

/// An object that may need another one: then that one cannot be deleted.
struct Keeper {
  const api::Kind* kind = nullptr;
  std::string name_space = {};
  std::string name = {};
};

/// The functions work on canonical objects in the stored form; null: there is nothing to do.
struct Strategy {
  void (*fill)(codec::Value&) = nullptr;  // After every decode.
  void (*prepare_create)(codec::Value&, const Settings&) = nullptr;
  rules::FieldErrors (*validate_create)(const codec::Value&, const View&) = nullptr;
  void (*prepare_update)(codec::Value&, const codec::Value& old, Door, const Settings&) = nullptr;
  rules::FieldErrors (*validate_update)(const codec::Value&, const codec::Value& old, Door,
                                        const View&) = nullptr;
  std::vector<std::string> (*warn)(const codec::Value&, Door) = nullptr;
  /// Families and the like that are decided before validation, and may fail.
  rules::FieldErrors (*complete)(codec::Value&, const codec::Value* old, const Settings&) = nullptr;
  /// Before it is shown or stored: what older versions did not write, or showed differently.
  void (*decorate)(codec::Value&, const Settings&) = nullptr;
  /// Who has to be asked before one is deleted, and what they say against it.
  std::optional<Keeper> (*keeper)(const codec::Value&) = nullptr;
  std::optional<std::string> (*objection)(const codec::Value&,
                                          const codec::Value& keeper) = nullptr;
  /// What is stored with an object and shown to nobody: taken out of it, and put back.
  std::string (*hide)(codec::Value&) = nullptr;
  void (*reveal)(codec::Value&, std::string_view hidden) = nullptr;
  /// What is taken for hidden of an object that nothing is hidden of, since others wrote it.
  std::string (*assume)(const codec::Value&) = nullptr;
  /// When an object ends by itself, if some do; what it says of that counts each time it is put.
  std::optional<base::WallTime> (*ends)(const codec::Value&, std::string_view hidden) = nullptr;
  /// How what is stored goes into the picture, if it is nothing that codec/storage.h reads.
  base::Result<state::WireText> (*to_wire)(std::string_view stored) = nullptr;
  /// In which members its objects differ, if there are very many of them (state::MarkOwn).
  std::span<const std::string_view> own_members = {};
  /// Why clients cannot write it; empty: they can.
  std::string_view read_only = {};
  bool name_as_given = false;          // generateName is the name, nothing is added.
  bool has_addresses = false;          // Services: addresses and ports are taken with it.
  bool is_range = false;               // What it says is what may be given out.
  bool put_creates = false;            // A PUT of what is not there makes it.
  bool needs_version = false;          // A PUT must say which version it replaces.
  bool delete_returns_object = false;  // Else a Status.
  bool keeps_spec_finalizers = false;  // Namespaces: gone only when these are empty too.
  bool owns_nothing = false;           // Events: nothing is deleted before or after them.
  std::chrono::seconds ttl{0};
};

struct Row {
  uint16_t resource = 0;  // Its place among state::Resources.
  const api::Kind* kind = nullptr;
  std::string prefix = {};       // "/registry/services/specs/"
  std::vector<View> views = {};  // The stored form first.
  bool served = true;            // Else only the server itself reads and writes it.
  Strategy strategy = {};
};

inline rules::Scope ScopeOf(const Row& row) {
  return row.kind->namespaced ? rules::Scope::kNamespaced : rules::Scope::kCluster;
}

/// An object in the stored form as the picture keeps it. `hidden`: see Strategy::hide.
state::WireText ToWireText(const Row& row, const codec::Value& object,
                           std::string_view hidden = {});
/// The same as the store keeps it.
std::string ToStored(const Row& row, const codec::Value& object, std::string_view hidden = {});

/// What an object of the picture says apart from metadata.managedFields and its resourceVersion.
/// Cheaper than Registry::Decode, for questions that are about neither.
base::Result<codec::Value> DecodeWithoutManagedFields(const Row& row, const state::Object& object);

/// A kind as a request names it.
struct Served {
  const Row* row = nullptr;
  const View* view = nullptr;

  const api::Kind& Kind() const { return *view->kind; }
  bool IsStoredForm() const { return view->to_stored == nullptr; }

  /// By an object's name in this view how it is stored, and back; nothing: see View.
  std::optional<std::string> StoredName(std::string_view name) const;
  std::optional<std::string> ShownName(std::string_view stored) const;
  /// An object of the picture in the fields of this view, given its stored form.
  codec::Value Show(codec::Value stored, const state::Object& object) const;
};

/// What somebody is told who wants to change an object through a view that does not do that.
base::Error ChangedAsStored(const Served& served, const std::string& name);

class Kinds {
 public:
  /// All that this server has.
  Kinds();

  std::span<const Row> Rows() const { return rows_; }
  const Row& NamespaceRow() const { return rows_[namespaces_]; }
  /// The row of a kind that is stored; null: there is none.
  const Row* FindRow(const api::Kind& kind) const;

  /// By group, version and plural; nothing: not served.
  std::optional<Served> Find(std::string_view group, std::string_view version,
                             std::string_view plural) const;

  /// Every served view, the core group first, groups of our own last.
  const std::vector<const api::Kind*>& Views() const { return views_; }

  /// What state needs to follow them.
  state::Resources MakeResources(const Settings& settings = {}) const;

 private:
  std::vector<Row> rows_;
  std::vector<const api::Kind*> views_;
  size_t namespaces_ = 0;
};

/// How long a server that is gone is still among the replicas.
inline constexpr std::chrono::seconds kReplicaTtl{60};

/// The strategies, by kind (strategies.cc, networking_strategies.cc, allocation_strategies.cc).
Strategy NamespaceStrategy();
Strategy ServiceStrategy();
Strategy EventStrategy();
Strategy LeaseStrategy();
Strategy ServiceCidrStrategy();
Strategy IpAddressStrategy();
Strategy IpRangeStrategy();
Strategy NodePortRangeStrategy();
Strategy NodePortStrategy();
Strategy ReplicaStrategy();

}  // namespace berth::registry
