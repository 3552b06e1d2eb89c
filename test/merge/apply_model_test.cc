// Writes an object of a random kind, by a few managers in random ways, with src/merge and with the
// plain model. The object, its owners and the conflicts must be the same after every write.
#include "merge/apply_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "api/meta.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/apply.h"
#include "merge/managed_fields.h"

namespace berth::merge {
namespace {

using codec::Value;

// Replaces rapidcheck's generator, which would shrink for hours with so many draws.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  int Pick(int choices) {
    return static_cast<int>(base::Uniform(random_, static_cast<uint64_t>(choices)));
  }
  bool OneIn(int times) { return Pick(times) == 0; }

 private:
  base::SeededRandom random_;
};

// Makes documents by the tables, with so few different values that writers collide.
class Maker {
 public:
  struct Style {
    bool repeats = false;  // Lists may have duplicate entries.
    bool empties = false;  // Null and empty values, which only a client's document has.
  };

  Maker(Dice& dice, Style style) : dice_(dice), style_(style) {}

  Value Message(const api::Message& message) {
    Value object = codec::Object();
    for (const api::Field& field : message.fields) {
      const bool left_out = message.fields.size() > 6 ? !OneIn(3) : OneIn(3);
      if (left_out || field.name == "managedFields") continue;
      object.Set(std::string(field.name), Field(field));
    }
    return object;
  }

 private:
  Value Field(const api::Field& field) {
    if (style_.empties && OneIn(12)) return nullptr;
    switch (field.shape) {
      case api::Shape::kOne:
        return One(field);
      case api::Shape::kMap:
        return Map(field);
      case api::Shape::kList:
        break;
    }
    return List(field);
  }

  Value Map(const api::Field& field) {
    const bool quantities = field.type == api::Type::kQuantity;
    Value map = codec::Object();
    for (const char* key : {"a", "b", "c"}) {
      if (OneIn(2)) map.Set(key, quantities ? Scalar(field) : Value(Pick(2) == 0 ? "x" : "y"));
    }
    return map;
  }

  Value List(const api::Field& field) {
    Value list = codec::Array();
    std::set<std::string> elements;
    for (int i = Pick(6); i > 0; --i) {
      Value entry = field.list_kind == api::ListKind::kSet ? Value(Letter()) : One(field);
      for (const api::ListKey& key : field.list_keys) {
        if (!key.default_text.empty()) continue;
        const bool is_text = field.message->Find(key.name)->type == api::Type::kString;
        entry.Set(std::string(key.name), is_text ? Value(Letter()) : Value(Pick(6)));
      }
      const bool atomic = field.list_kind == api::ListKind::kAtomic;
      const bool is_new = atomic || elements.insert(model::ElementOf(field, entry)).second;
      if (is_new || (style_.repeats && OneIn(3))) list.Append(std::move(entry));
    }
    return list;
  }

  std::string Letter() { return std::string(1, "abcdef"[Pick(6)]); }

  Value One(const api::Field& field) {
    return field.type == api::Type::kMessage ? Message(*field.message) : Scalar(field);
  }

  Value Scalar(const api::Field& field) {
    const int pick = Pick(style_.empties ? 3 : 2);
    switch (field.type) {
      case api::Type::kBool:
        return pick == 0;
      case api::Type::kInt32:
      case api::Type::kInt64:
        return pick == 2 ? 0 : pick + 80;
      case api::Type::kTime:
        return pick == 0 ? "2026-01-01T00:00:00Z" : "2026-01-02T00:00:00Z";
      case api::Type::kMicroTime:
        return pick == 0 ? "2026-01-01T00:00:00.000001Z" : "2026-01-02T00:00:00.000000Z";
      case api::Type::kQuantity:
        return pick == 0 ? "1" : pick == 1 ? "500m" : "0";
      case api::Type::kIntOrString:
        return pick == 0 ? Value("http") : Value(pick);
      default:
        // Includes the default value of a key.
        return pick == 0 ? "TCP" : pick == 1 ? "b" : "";
    }
  }

  int Pick(int choices) { return dice_.Pick(choices); }
  bool OneIn(int times) { return dice_.OneIn(times); }

  Dice& dice_;
  const Style style_;
};

class World {
 public:
  explicit World(uint64_t seed)
      : dice_(seed), kind_(*api::AllKinds()[static_cast<size_t>(Pick(Kinds()))]) {}

  void Step() {
    now_ += std::chrono::seconds(1);
    const std::string subresource = kind_.has_status && OneIn(3) ? "status" : "";
    const std::string manager = "m" + std::to_string(crowded_ ? Pick(20) : Pick(4));
    const FieldWrite write{
        .kind = kind_, .subresource = subresource, .manager = manager, .now = now_};
    const model::Write model_write{.kind = kind_,
                                   .subresource = subresource,
                                   .manager = manager,
                                   .time = codec::FormatTime(now_)};
    if (crowded_ && !OneIn(20)) {
      Value document = codec::ToDocument(Bare(live_), *kind_.message);
      codec::SetAt(document, {"metadata", "labels", manager}, codec::FormatTime(now_));
      DoUpdate(write, model_write, document);
    } else if (OneIn(2)) {
      DoApply(write, model_write);
    } else {
      DoUpdate(write, model_write, Document());
    }
  }

 private:
  int Pick(int choices) { return dice_.Pick(choices); }
  bool OneIn(int times) { return dice_.OneIn(times); }

  static int Kinds() { return static_cast<int>(api::AllKinds().size()); }

  model::Flat Flat(Value object) const {
    codec::EraseAt(object, {"metadata", "managedFields"});
    return model::Flatten(codec::ToDocument(object, *kind_.message), *kind_.message);
  }

  static Value Bare(Value object) {
    codec::EraseAt(object, {"metadata", "managedFields"});
    if (codec::ObjectAt(object, "metadata").empty()) codec::EraseAt(object, {"metadata"});
    return object;
  }

  void Log(const char* what, const FieldWrite& write, const Value& with) {
    log_ += fmt::format("{} by {} {}: {}\n", what, write.manager, write.subresource,
                        codec::WriteJson(with));
  }

  void Require(bool holds, const std::string& otherwise) const {
    if (!holds) RC_FAIL(log_ + otherwise);
  }

  void DoApply(const FieldWrite& write, const model::Write& model_write) {
    const bool force = OneIn(3);
    Value config = Config();
    const model::Flat flat = model::Flatten(config, *kind_.message);
    config.Set("apiVersion", Value(kind_.api_version));
    config.Set("kind", Value(kind_.kind));
    Log(force ? "force" : "apply", write, config);
    model::Managers managers = model::ManagersOf(live_);
    if (managers.empty()) {
      model::Write first = model_write;
      first.manager = "before-first-apply";
      managers = model::Update(first, Flat(codec::Object()), Flat(live_), managers);
    }
    const model::Applied expected = model::Apply(model_write, force, Flat(live_), flat, managers);
    auto applied = Apply(write, {.force = force}, live_, config);
    if (!applied) {
      log_ += "  " + applied.error().message + "\n";
      Require(applied.error().reason == base::Reason::kConflict, "another error");
      Require(applied.error().causes.size() == expected.conflicts.size(), "other conflicts");
      return;
    }
    Require(expected.conflicts.empty(), "no conflicts");
    last_config_ = config;
    Check(*std::move(applied), model::Unflatten(expected.document), expected.managers);
  }

  // Sometimes returns almost the same as the last one, so that little changes.
  Value Config() {
    if (last_config_.AsObject() != nullptr && OneIn(3)) {
      Value config = last_config_;
      codec::EraseAt(config, {"apiVersion"});
      codec::EraseAt(config, {"kind"});
      if (OneIn(2))
        config.Set("metadata", Maker(dice_, {.empties = true}).Message(api::kObjectMeta));
      return config;
    }
    return Maker(dice_, {.empties = OneIn(2)}).Message(*kind_.message);
  }

  Value Document() {
    if (OneIn(2)) return Maker(dice_, {.repeats = OneIn(2)}).Message(*kind_.message);
    Value document = codec::ToDocument(Bare(live_), *kind_.message);
    document.Set("metadata", Maker(dice_, {}).Message(api::kObjectMeta));
    return document;
  }

  void DoUpdate(const FieldWrite& write, const model::Write& model_write, const Value& document) {
    Value updated = codec::DecodeValue(document, *kind_.message)->object;
    model::Managers managers = model::ManagersOf(live_);
    const Value bare = updated;
    if (OneIn(2)) codec::CopyAt(updated, live_, {"metadata", "managedFields"});
    const bool reset = write.subresource.empty() && OneIn(20);
    if (reset) codec::SetAt(updated, {"metadata", "managedFields"}, codec::Array());
    Log("update", write, updated);
    const bool is_create = codec::ObjectAt(live_).empty();
    if (reset) managers.clear();
    if (!managers.empty() || is_create) {
      managers = model::Update(model_write, Flat(live_), Flat(updated), managers);
    }
    TrackUpdate(write, live_, updated);
    Check(std::move(updated), codec::ToDocument(bare, *kind_.message), managers);
  }

  void Check(Value object, const Value& document, const model::Managers& managers) {
    log_ += "  is " + codec::WriteJson(object) + "\n";
    const Value expected = codec::DecodeValue(document, *kind_.message)->object;
    Require(Bare(object) == expected, "and not " + codec::WriteJson(expected));
    Require(model::ManagersOf(object) == managers, "but owned by others");
    live_ = std::move(object);
  }

  Dice dice_;
  const api::Kind& kind_;
  const bool crowded_ = OneIn(10);  // So many writers that the oldest are merged.
  std::string log_;
  base::WallTime now_{std::chrono::seconds(1800000000)};
  Value live_ = codec::Object();
  Value last_config_;
};

RC_GTEST_PROP(ApplyModel, WritersOfOneObject, ()) {
  base::SeededRandom seeds(*rc::gen::arbitrary<uint64_t>());
  for (int64_t worlds = base::LongCount(50); worlds > 0; --worlds) {
    World world(seeds.Next());
    for (int steps = 0; steps < 25; ++steps) world.Step();
  }
}

}  // namespace
}  // namespace berth::merge
