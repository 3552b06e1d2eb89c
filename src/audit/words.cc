#include "audit/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/uint128.h"
#include "rules/record_notes.h"

namespace berth::audit {
namespace {

using alloc::PoolId;

bool IsPortValue(const ValueWords& words) { return words.value.pool == PoolId::kPorts; }

/// Returns "the address 10.96.0.10" or "the node port 30080".
std::string TheValue(const ValueWords& words) {
  const char* what = !IsPortValue(words)       ? "address"
                     : words.held.health_check ? "health check node port"
                                               : "node port";
  return fmt::format("the {} {}", what, alloc::TextOf(words.value));
}

std::string FirstUpper(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

/// Returns "a, b and c", or "a, b and 7 more".
std::string Listed(std::vector<std::string> names, size_t total) {
  if (total > names.size()) {
    names.push_back(fmt::format("{} more", total - names.size()));
  }
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

std::string Owners(const ValueWords& words) {
  std::vector<std::string> names;
  for (const ObjectRef& owner : words.owners) {
    names.push_back(fmt::format("{}/{}", owner.name_space, owner.name));
  }
  return Listed(std::move(names), words.owner_count);
}

std::string OneOwner(const ValueWords& words) {
  return words.owners.empty() ? "a Service" : TextOf(words.owners.front());
}

/// Returns the command that shows or changes the last owner, which is the one to give way if
/// nothing else speaks for one of them.
std::string Kubectl(std::string_view verb, const ObjectRef& object) {
  return fmt::format("kubectl {} service {} -n {}", verb, object.name, object.name_space);
}

std::string DeleteRecord(const ObjectRef& record) {
  return fmt::format("kubectl delete {} {}",
                     record.resource == "nodeports" ? "nodeports.allocation.berth.io"
                                                    : "ipaddresses.networking.k8s.io",
                     record.name);
}

std::string UsesText(const std::vector<PortUse>& ports) {
  std::vector<std::string> texts;
  for (const PortUse& port : ports) {
    texts.push_back(port.name.empty()
                        ? fmt::format("{}/{}", port.port, port.protocol)
                        : fmt::format("{} {}/{}", port.name, port.port, port.protocol));
  }
  const size_t total = texts.size();
  if (total > kNamesInText) texts.resize(kNamesInText);
  return Listed(std::move(texts), total);
}

std::string PurposeText(bool health_check, const std::vector<PortUse>& ports) {
  if (health_check) return "the health check";
  return ports.empty() ? "a node port" : fmt::format("port {}", UsesText(ports));
}

/// Returns a sentence about what the record says of its Service.
std::string SaysOf(const RecordWords& record) {
  switch (record.state) {
    case RecordState::kFree:
      return "says that it was released and cools down";
    case RecordState::kPending:
    case RecordState::kReserved:
      if (!record.reserved_for.empty()) {
        return fmt::format("says that it is {} for Service {}",
                           record.state == RecordState::kPending ? "held" : "reserved",
                           record.reserved_for);
      }
      return "says that it is reserved";
    case RecordState::kAllocated:
      break;
  }
  return record.service.empty() ? "names no Service"
                                : fmt::format("says that Service {} has it", record.service);
}

void TellTwoOwners(const ValueWords& words, Finding& finding) {
  const std::string record =
      words.record ? fmt::format("; {} {}", TextOf(words.record->object), SaysOf(*words.record))
      : words.records_count ? "; it has no record"
                            : "";
  finding.message =
      fmt::format("{} belongs to {} Services at once: {}{}", FirstUpper(TheValue(words)),
                  words.owner_count, Owners(words), record);
  // The one that the record names keeps the value in the example.
  const auto gives_way = std::ranges::find_if(words.owners, [&words](const ObjectRef& owner) {
    return !words.record ||
           fmt::format("{}/{}", owner.name_space, owner.name) != words.record->service;
  });
  const ObjectRef& other = gives_way == words.owners.end() ? words.owners.back() : *gives_way;
  const ObjectRef& example =
      words.record && !words.record->service.empty() ? other : words.owners.back();
  finding.advice =
      IsPortValue(words)
          ? fmt::format("Decide which Service keeps it, and give the others another node port: {}",
                        Kubectl("edit", example))
          : fmt::format(
                "Decide which Service keeps it, delete the others and create them again "
                "without clusterIP and clusterIPs: {}",
                Kubectl("delete", example));
}

void TellNoRecord(const ValueWords& words, Finding& finding) {
  if (words.bitmap || !words.bitmap_range.empty()) {
    finding.message = fmt::format("{} of {} has no bit set in the bitmap of {}",
                                  FirstUpper(TheValue(words)), OneOwner(words), words.bitmap_range);
    finding.advice = "A running server sets the bit; start one and run berth verify again";
    return;
  }
  finding.message =
      fmt::format("{} of {} has no record", FirstUpper(TheValue(words)), OneOwner(words));
  finding.advice =
      "A running server makes the record; start one and run berth verify again after a minute";
}

void TellOrphan(const ValueWords& words, Finding& finding) {
  if (!words.record || words.record->state != RecordState::kAllocated) {
    finding.message = fmt::format("The bitmap of {} says that {} is taken, but no Service has it",
                                  words.bitmap_range, TheValue(words));
    finding.advice = "A running server clears the bit when it has seen it three times";
    return;
  }
  const RecordWords& record = *words.record;
  const char* but = record.service.empty()  ? "and no Service has it"
                    : record.service_exists ? "but that Service does not have it"
                                            : "but there is no such Service";
  finding.message = fmt::format("{} {}, {}", TextOf(record.object), SaysOf(record), but);
  finding.advice =
      fmt::format("A running server releases it when it has seen this twice; to do it yourself: {}",
                  DeleteRecord(record.object));
}

void TellWrongRecord(FindingKind kind, const ValueWords& words, Finding& finding) {
  const RecordWords& record = *words.record;
  const std::string name = TextOf(record.object);
  if (kind == FindingKind::kWrongUid) {
    finding.message = fmt::format(
        "{} was made for an earlier Service {} with the uid {}; the Service that has the value now "
        "has the uid {}",
        name, record.service, record.service_uid,
        words.owners.empty() ? "" : words.owners.front().uid);
  } else if (kind == FindingKind::kWrongOwner) {
    finding.message = fmt::format("{} {}, but {} has it", name, SaysOf(record), OneOwner(words));
  } else {
    finding.message =
        fmt::format("{} says that {} uses it for {}, but it uses it for {}", name, OneOwner(words),
                    PurposeText(record.health_check.value_or(words.held.health_check),
                                record.ports.value_or(std::vector<PortUse>())),
                    PurposeText(words.held.health_check, words.held.ports));
  }
  finding.advice = fmt::format(
      "A running server corrects the record. If it does not, write the Service again: {}",
      Kubectl("label", words.owners.front()) + " checked=true");
}

void TellFamily(const ValueWords& words, Finding& finding) {
  const char* family = words.value.pool == PoolId::kIpv4 ? "IPv4" : "IPv6";
  finding.message = fmt::format("{} says that its family is {}, but the address is {}",
                                TextOf(words.record->object), words.record->family, family);
  finding.advice = fmt::format(
      "Correct the label: kubectl label ipaddresses.networking.k8s.io {} --overwrite "
      "ipaddress.kubernetes.io/ip-family={}",
      words.record->object.name, family);
}

void TellOutside(FindingKind kind, const ValueWords& words, Finding& finding) {
  const std::string value = FirstUpper(TheValue(words));
  finding.message =
      kind == FindingKind::kUnusable
          ? fmt::format("{} of {} cannot be used: {}", value, OneOwner(words), words.why_unusable)
          : fmt::format("{} of {} is in no range", value, OneOwner(words));
  const std::string own_range =
      kind == FindingKind::kUnusable ? "" : fmt::format("{}, or ", kExtendRange);
  const bool fixed_port = IsPortValue(words) && words.held.health_check;
  finding.advice =
      fixed_port ? FirstUpper(fmt::format(
                       "{}delete the Service and create it again without healthCheckNodePort: {}",
                       own_range, Kubectl("delete", words.owners.front())))
      : IsPortValue(words)
          ? FirstUpper(fmt::format("{}give the Service another node port: {}", own_range,
                                   Kubectl("edit", words.owners.front())))
          : FirstUpper(fmt::format(
                "{}delete the Service and create it again without clusterIP and clusterIPs: {}",
                own_range, Kubectl("delete", words.owners.front())));
}

void TellLostReservation(const ValueWords& words, Finding& finding) {
  const RecordWords& record = *words.record;
  finding.message = fmt::format("{} {}, but no Service can take it: {}", TextOf(record.object),
                                SaysOf(record), words.why_withheld);
  finding.advice = fmt::format("Let the range give it out again, or end the reservation: {}",
                               DeleteRecord(record.object));
}

/// Returns a reference as people write it.
std::string ReferenceName(const RecordWords& record) {
  std::string_view name = record.range;
  std::string_view kind = record.object.resource == "nodeports" ? "NodePortRange" : "IPRange";
  if (name.starts_with(rules::kServiceCidrNote)) {
    name.remove_prefix(rules::kServiceCidrNote.size());
    kind = "ServiceCIDR";
  }
  return fmt::format("{} \"{}\"", kind, name);
}

void TellReference(FindingKind kind, const ValueWords& words, Finding& finding) {
  const RecordWords& record = *words.record;
  const std::string right =
      words.right_range.empty() ? "" : fmt::format("; \"{}\" contains it", words.right_range);
  finding.message = fmt::format(
      "{} refers to the {}, which {}{}", TextOf(record.object), ReferenceName(record),
      kind == FindingKind::kUnknownRange ? "does not exist" : "does not contain it", right);
  if (!words.right_range.empty()) {
    finding.advice = "A running server corrects the reference";
    return;
  }
  finding.advice = kExtendRange;
  if (record.state == RecordState::kReserved || record.state == RecordState::kPending) {
    finding.advice += fmt::format(", or end the reservation: {}", DeleteRecord(record.object));
  }
}

std::string CountText(std::string_view name, const std::optional<base::U128>& says,
                      const std::optional<base::U128>& counted) {
  if (!says || *says == counted.value_or(0)) return {};
  return fmt::format("{} {} where {} are counted", base::ToDecimal(*says), name,
                     base::ToDecimal(counted.value_or(0)));
}

}  // namespace

Finding ValueFinding(FindingKind kind, const ValueWords& words) {
  Finding finding{
      .kind = kind, .value = words.value, .owners = words.owners, .owner_count = words.owner_count};
  if (words.record) {
    finding.object = words.record->object;
  } else if (words.bitmap) {
    finding.object = words.bitmap;
  }
  switch (kind) {
    case FindingKind::kTwoOwners:
      TellTwoOwners(words, finding);
      break;
    case FindingKind::kNoRecord:
      TellNoRecord(words, finding);
      break;
    case FindingKind::kOrphan:
      TellOrphan(words, finding);
      break;
    case FindingKind::kWrongUid:
    case FindingKind::kWrongOwner:
    case FindingKind::kWrongPurpose:
      TellWrongRecord(kind, words, finding);
      break;
    case FindingKind::kWrongFamily:
      TellFamily(words, finding);
      break;
    case FindingKind::kOutOfRange:
    case FindingKind::kUnusable:
      TellOutside(kind, words, finding);
      break;
    case FindingKind::kLostReservation:
      TellLostReservation(words, finding);
      break;
    case FindingKind::kUnknownRange:
    case FindingKind::kRangeWithoutValue:
      TellReference(kind, words, finding);
      break;
    case FindingKind::kWrongCount:
    case FindingKind::kTwoPrimaries:
    case FindingKind::kUndecodable:
      break;  // These are not about a value.
  }
  return finding;
}

Finding WrongCount(const ObjectRef& range, const RangeCounts& says, const RangeCounts& counted) {
  std::vector<std::string> wrong = {CountText("used", says.used, counted.used),
                                    CountText("reserved", says.reserved, counted.reserved),
                                    CountText("cooling", says.cooling, counted.cooling)};
  std::erase(wrong, "");
  const size_t total = wrong.size();
  return {.kind = FindingKind::kWrongCount,
          .object = range,
          .message = fmt::format("The status of {} says {}", TextOf(range),
                                 Listed(std::move(wrong), total)),
          .advice =
              "A running server writes the counts every second, and a server that starts "
              "writes them again",
          .may_settle = true};
}

Finding TwoPrimaries(std::span<const ObjectRef* const> ranges) {
  std::vector<std::string> names;
  for (const ObjectRef* range : ranges.first(std::min(ranges.size(), kNamesInText))) {
    names.push_back(fmt::format("\"{}\"", range->name));
  }
  return {
      .kind = FindingKind::kTwoPrimaries,
      .object = *ranges.front(),
      .message = fmt::format("{} IPRanges are primary: {}", ranges.size(),
                             Listed(std::move(names), ranges.size())),
      .advice = fmt::format("Decide which one is primary, and write it again, which demotes the "
                            "others: kubectl label ipranges {} checked=true",
                            ranges.front()->name)};
}

Finding Undecodable(const std::string& key, const std::string& error) {
  return {.kind = FindingKind::kUndecodable,
          .key = key,
          .message = fmt::format("The value of {} cannot be decoded: {}", key, error),
          .advice = "Put the value back from a snapshot, or delete the key from the store"};
}

}  // namespace berth::audit
