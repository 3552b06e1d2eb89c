// Makes records from a sample: see RecordMaker in records.h.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "allocation/records.h"
#include "codec/template.h"
#include "codec/timestamp.h"
#include "rules/range_spec.h"

namespace berth::allocation {
namespace {

/// The parts in which records of one form and second differ; and their time, because it is a part
/// that objects in the snapshot do not share with others.
enum Difference : uint8_t {
  kName,
  kUid,
  kTime,
  kNamespace,
  kOwner,
  kOwnerUid,
  // Many records have the same values of these, so objects share them.
  kRange,
  kPorts,
  kDifferences
};
using Values = std::array<std::string_view, kDifferences>;

/// Placeholders for the differences in a sample, long enough to occur nowhere else in it.
constexpr std::string_view kSampleUid = "11111111-1111-4111-8111-111111111111";
constexpr std::string_view kSampleNamespace = "namespace-of-the-owner";
constexpr std::string_view kSampleOwner = "name-of-the-owner";
constexpr std::string_view kSampleOwnerUid = "22222222-2222-4222-8222-222222222222";
constexpr std::string_view kSampleRange = "name-of-the-range";
constexpr std::string_view kSamplePorts =
    R"([{"name":"name-of-the-port","port":12345,"protocol":"TCP"}])";

U128 SampleValue(PoolId pool) {
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

constexpr size_t kForms = kPools * 8;

/// Returns the number of a form. Records of one form have the same members. A port always names its
/// range.
size_t FormNumber(const RecordFacts& facts) {
  const bool port = facts.value.pool == PoolId::kPorts;
  const bool third = port ? !facts.ports.empty() : !facts.range.empty();
  return static_cast<size_t>(facts.value.pool) * 8 + static_cast<size_t>(facts.chosen) * 4 +
         (facts.health_check ? 2 : 0) + (third ? 1 : 0);
}

/// Returns the facts of a sample of the same form.
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

/// Returns the same as UsesOf, in JSON. kSamplePorts is an example.
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
  std::optional<codec::ProtoTemplate> stored;  // Nullopt if it is the same text.
  const state::WireText wire;                  // The sample's.
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
                     codec::IsPlain(owner.uid) && !owner.name_space.empty() && !owner.uid.empty() &&
                     codec::IsPlain(facts.range) && ArePlain(facts.ports);
  if (!plain) return NewRecord(rows_, owner, facts, std::string(uid), now);
  const FormPtr form = FormOf(facts, now);
  const std::string name = RecordName(facts.value);
  const bool port = facts.value.pool == PoolId::kPorts;
  const std::string_view range =
      port && facts.range.empty() ? rules::kNodePortRangeName : std::string_view(facts.range);
  const std::string ports = facts.ports.empty() ? std::string() : UsesText(facts.ports);
  const Values values{name, uid, form->time, owner.name_space, owner.name, owner.uid, range, ports};
  const registry::Row& row = port ? *rows_.node_ports : *rows_.ip_addresses;
  commit::ExtraPut put{.key = row.prefix + name, .expected = 0};
  put.wire.text = form->text.Fill(values);
  put.wire.metadata_at = form->wire.metadata_at;
  put.wire.version_at = form->text.PositionOf(form->wire.version_at, values);
  if (!port) put.wire.hidden = rules::HiddenOf(NotesOf(owner, facts));
  for (const codec::TextTemplate::ValueSpan& span : form->text.ValueSpans(values)) {
    if (span.placeholder >= kRange) continue;
    if (put.wire.own.count == state::OwnParts::kMost) break;
    put.wire.own.parts[put.wire.own.count++] = {.at = static_cast<uint32_t>(span.at),
                                                .size = static_cast<uint32_t>(span.size)};
  }
  put.stored = form->stored ? form->stored->Fill(values) : put.wire.text;
  return put;
}

}  // namespace berth::allocation
