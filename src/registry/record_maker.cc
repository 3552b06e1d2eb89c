// Records after a sample: see RecordMaker in records.h.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "codec/template.h"
#include "codec/timestamp.h"
#include "registry/records.h"
#include "rules/range_spec.h"

namespace berth::registry {
namespace {

using commit::PoolId;

/// What records of one form and second differ in; and their time, which is one of the parts that an
/// object does not share with others in the picture.
enum Difference : uint8_t {
  kName,
  kUid,
  kTime,
  kNamespace,
  kOwner,
  kOwnerUid,
  // Many have the same of these, so they are no object's own.
  kRange,
  kPorts,
  kDifferences
};
using Values = std::array<std::string_view, kDifferences>;

/// They stand for the differences in a sample: long enough to be nowhere else in it.
constexpr std::string_view kSampleUid = "11111111-1111-4111-8111-111111111111";
constexpr std::string_view kSampleNamespace = "namespace-of-the-owner";
constexpr std::string_view kSampleOwner = "name-of-the-owner";
constexpr std::string_view kSampleOwnerUid = "22222222-2222-4222-8222-222222222222";
constexpr std::string_view kSampleRange = "name-of-the-range";
constexpr std::string_view kSamplePorts =
    R"([{"name":"name-of-the-port","port":12345,"protocol":"TCP"}])";

commit::U128 SampleValue(PoolId pool) {
  switch (pool) {
    case PoolId::kIpv4:
      return 0xC0000201;  // 192.0.2.1
    case PoolId::kIpv6:
      return base::MakeU128(0x20010DB8'00000000, 0x12345678);  // 2001:db8::1234:5678
    case PoolId::kPorts:
      break;
  }
  return 54321;
}

constexpr size_t kForms = commit::kPools * 8;

/// Records of one form have the same members. A port always says which range it is of.
size_t FormNumber(const RecordFacts& facts) {
  const bool port = facts.value.pool == PoolId::kPorts;
  const bool third = port ? !facts.ports.empty() : !facts.range.empty();
  return static_cast<size_t>(facts.value.pool) * 8 + static_cast<size_t>(facts.chosen) * 4 +
         (facts.health_check ? 2 : 0) + (third ? 1 : 0);
}

/// The facts of a sample of the same form.
RecordFacts SampleOf(const RecordFacts& facts) {
  RecordFacts sample = facts;
  sample.value.value = SampleValue(facts.value.pool);
  if (!facts.range.empty() || facts.value.pool == PoolId::kPorts) sample.range = kSampleRange;
  if (!facts.ports.empty()) {
    sample.ports = {{.name = "name-of-the-port", .port = 12345, .protocol = "TCP"}};
  }
  return sample;
}

bool ArePlain(const std::vector<PortUse>& ports) {
  return std::ranges::all_of(ports, [](const PortUse& port) {
    return codec::IsPlain(port.name) && codec::IsPlain(port.protocol) && !port.protocol.empty() &&
           port.port != 0;
  });
}

/// As UsesOf, in JSON: kSamplePorts is one of them.
std::string UsesText(const std::vector<PortUse>& ports) {
  std::string text = "[";
  for (const PortUse& port : ports) {
    text += text.size() == 1 ? "{" : ",{";
    if (!port.name.empty()) text.append(R"("name":")").append(port.name).append(R"(",)");
    text.append(R"("port":)").append(std::to_string(port.port));
    text.append(R"(,"protocol":")").append(port.protocol).append(R"("})");
  }
  return text + "]";
}

std::chrono::seconds SecondOf(base::WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
}

}  // namespace

struct RecordMaker::Form {
  Form(const commit::ExtraPut& sample, const std::string& time_text, const Values& samples,
       std::chrono::seconds the_second)
      : second(the_second), time(time_text), text(sample.wire.text, samples), wire(sample.wire) {
    if (sample.stored != sample.wire.text) stored.emplace(sample.stored, samples);
  }

  const std::chrono::seconds second;
  const std::string time;
  const codec::TextTemplate text;
  std::optional<codec::ProtoTemplate> stored;  // Nothing: the same text.
  const state::WireText wire;                  // Of the sample.
};

RecordMaker::RecordMaker(const RecordRows& rows) : rows_(rows), forms_(kForms) {}
RecordMaker::~RecordMaker() = default;

RecordMaker::FormPtr RecordMaker::FormOf(const RecordFacts& facts, base::WallTime now) {
  const std::chrono::seconds second = SecondOf(now);
  base::MutexLock lock(mutex_);
  FormPtr& form = forms_[FormNumber(facts)];
  if (form != nullptr && form->second == second) return form;
  const RecordFacts sample = SampleOf(facts);
  const Owner owner{.name_space = kSampleNamespace, .name = kSampleOwner, .uid = kSampleOwnerUid};
  const std::string name = RecordName(sample.value);
  const std::string time = codec::FormatTime(now);
  form = std::make_shared<const Form>(NewRecord(rows_, owner, sample, std::string(kSampleUid), now),
                                      time,
                                      Values{name, kSampleUid, time, kSampleNamespace, kSampleOwner,
                                             kSampleOwnerUid, kSampleRange, kSamplePorts},
                                      second);
  return form;
}

commit::ExtraPut RecordMaker::Make(const Owner& owner, const RecordFacts& facts,
                                   std::string_view uid, base::WallTime now) {
  const bool plain = codec::IsPlain(owner.name_space) && codec::IsPlain(owner.name) &&
                     codec::IsPlain(owner.uid) && !owner.name_space.empty() &&
                     codec::IsPlain(facts.range) && ArePlain(facts.ports);
  if (!plain) return NewRecord(rows_, owner, facts, std::string(uid), now);
  const FormPtr form = FormOf(facts, now);
  const std::string name = RecordName(facts.value);
  const bool port = facts.value.pool == PoolId::kPorts;
  const std::string_view range =
      port && facts.range.empty() ? rules::kNodePortRangeName : std::string_view(facts.range);
  const std::string ports = facts.ports.empty() ? std::string() : UsesText(facts.ports);
  const Values values{name, uid, form->time, owner.name_space, owner.name, owner.uid, range, ports};
  const Row& row = port ? *rows_.node_ports : *rows_.ip_addresses;
  commit::ExtraPut put{.key = row.prefix + name, .expected = 0};
  put.wire.text = form->text.Fill(values);
  put.wire.metadata_at = form->wire.metadata_at;
  put.wire.version_at = form->text.PositionOf(form->wire.version_at, values);
  put.wire.hidden =
      port || facts.range.empty() ? form->wire.hidden : rules::HiddenOf(NotesOf(facts));
  for (const codec::TextTemplate::Place& place : form->text.Places(values)) {
    if (place.placeholder >= kRange) continue;
    if (put.wire.own.count == state::OwnParts::kMost) break;
    put.wire.own.parts[put.wire.own.count++] = {.at = static_cast<uint32_t>(place.at),
                                                .size = static_cast<uint32_t>(place.size)};
  }
  put.stored = form->stored ? form->stored->Fill(values) : put.wire.text;
  return put;
}

}  // namespace berth::registry
