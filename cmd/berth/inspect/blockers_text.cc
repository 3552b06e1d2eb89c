#include "berth/inspect/blockers_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "audit/finding.h"
#include "base/go_text.h"
#include "berth/inspect/column_table.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/gaps_text.h"
#include "berth/inspect/heading_text.h"
#include "berth/inspect/value_text.h"
#include "berth/paint.h"
#include "berth/text.h"
#include "inspect/names.h"

namespace berth::cli {
namespace {

using inspect::Blocker;
using inspect::Blockers;
using inspect::Effort;
using inspect::Obstacle;
using inspect::Outcome;

constexpr size_t kBlockersShown = 40;
constexpr std::string_view kMadeAgain =
    "The API servers make the ServiceCIDR kubernetes again from --service-cluster-ip-range. So "
    "change that flag of all of them before it is gone.";

Color EffortColor(Effort effort) {
  if (effort == Effort::kEasy) return Color::kGreen;
  return effort == Effort::kMedium ? Color::kYellow : Color::kRed;
}

/// Returns a few words on an obstacle, for the table.
std::string ObstacleText(Obstacle obstacle, const Blocker& blocker) {
  switch (obstacle) {
    case Obstacle::kApiServer:
      return "of the API servers";
    case Obstacle::kClusterDns:
      return "cluster DNS";
    case Obstacle::kNamed:
      return OriginText(*blocker.held);
    case Obstacle::kController:
      return fmt::format("owned by {}", base::ToVisible(blocker.service->controller));
    case Obstacle::kTool:
      return base::ToVisible(blocker.service->tool);
    case Obstacle::kHealthCheck:
      return "health check port";
    case Obstacle::kLoadBalancer:
      return "load balancer";
    case Obstacle::kUnknownOrigin:
      return "origin not known";
    case Obstacle::kNodePort:
      return "node port";
    case Obstacle::kReservation:
      return blocker.record->facts.reserved_for.empty()
                 ? "reserved for no Service"
                 : fmt::format("reserved for {}",
                               base::ToVisible(blocker.record->facts.reserved_for));
    case Obstacle::kOrphan:
      return fmt::format("of {}/{}, which does not have it",
                         base::ToVisible(blocker.record->facts.service_namespace),
                         base::ToVisible(blocker.record->facts.service_name));
    case Obstacle::kPlain:
      return "drawn by the allocator";
    case Obstacle::kDeleting:
      break;
  }
  return "being deleted";
}

/// Returns the table. A namespace and a Service are named once.
std::string BlockersTable(const Blockers& answer, size_t shown, const Paint& paint) {
  ColumnTable table({{.title = "NAMESPACE", .shrinks = true},
                     {.title = "OWNER", .shrinks = true},
                     {.title = "VALUE"},
                     {.title = "MOVE"},
                     {.title = "WHY", .shrinks = true}});
  const inspect::Service* before = nullptr;
  for (size_t i = 0; i < shown; ++i) {
    const Blocker& blocker = answer.blockers[i];
    std::string name_space;
    std::string owner;
    if (blocker.service == nullptr) {
      owner = base::ToVisible(audit::TextOf(blocker.record->facts.object));
    } else if (blocker.service != before) {
      const audit::ObjectRef& object = blocker.service->object;
      owner = base::ToVisible(object.name);
      const bool same = before != nullptr && before->object.name_space == object.name_space;
      if (!same) name_space = base::ToVisible(object.name_space);
    }
    before = blocker.service;
    table.Add({name_space,
               owner,
               alloc::TextOf(blocker.value),
               {std::string(inspect::NameOf(blocker.effort())), EffortColor(blocker.effort())},
               WhyText(blocker)});
  }
  return table.Text(paint);
}

std::string AdviceList(const Blockers& answer, const Paint& paint) {
  std::array<bool, inspect::kObstacles> occurs{};
  for (const Blocker& blocker : answer.blockers) {
    for (const Obstacle obstacle : blocker.obstacles) occurs[static_cast<size_t>(obstacle)] = true;
  }
  constexpr std::array<std::string_view, inspect::kObstacles> kTitles = {"Of the API servers",
                                                                         "Cluster DNS",
                                                                         "Named by a client",
                                                                         "Owned by another object",
                                                                         "Deployed by a tool",
                                                                         "Health check port",
                                                                         "Load balancer",
                                                                         "Origin not known",
                                                                         "Node port",
                                                                         "Reserved",
                                                                         "Record without a Service",
                                                                         "Drawn by the allocator",
                                                                         "Being deleted"};
  std::string out;
  for (size_t i = 0; i < occurs.size(); ++i) {
    if (!occurs[i]) continue;
    const auto obstacle = static_cast<Obstacle>(i);
    out += fmt::format("  {} ({})\n", paint.In(Color::kBold, kTitles[i]),
                       inspect::NameOf(inspect::EffortOf(obstacle)));
    out += Wrapped(inspect::AdviceOn(obstacle), 2 * kIndent, paint.prose_width());
  }
  return out.empty() ? out : "\nWhat to do\n" + out;
}

std::string HowToShrink(const Blockers& answer) {
  if (answer.to) {
    return fmt::format("create a ServiceCIDR with {} first, then delete this one.",
                       answer.to->text);
  }
  return "create a ServiceCIDR with the smaller range first, then delete this one.";
}

std::string BlockersHeading(const Blockers& answer, const Paint& paint) {
  std::string words(KindNoun(KindOf(answer.pool), 2));
  if (answer.to) words += fmt::format(" {} ", paint.Char("→", "->"));
  return HeadingText(paint, base::ToVisible(answer.title), words,
                     answer.to ? answer.to->text : std::string(), Color::kBold) +
         "\n";
}

std::string SummaryOf(const Blockers& answer) {
  const uint64_t values = answer.blockers.size() - answer.records;
  const auto noun = [&](uint64_t count) { return ShortNoun(KindOf(answer.pool), count); };
  std::string out;
  if (values > 0) {
    out = fmt::format("{} with {} {} in the way", Plural(answer.services, "Service", "Services"),
                      Plural(values, noun(1), noun(2)), answer.services == 1 ? "is" : "are");
  }
  if (answer.records > 0) {
    out += fmt::format("{}{} in the way", out.empty() ? "" : ", and ",
                       Plural(answer.records, "record is", "records are"));
  }
  out += ": ";
  for (const Effort effort : {Effort::kHard, Effort::kMedium, Effort::kEasy}) {
    const uint64_t count = answer.by_effort[static_cast<size_t>(effort)];
    if (count == 0) continue;
    out += fmt::format("{}{} {}", out.ends_with(": ") ? "" : ", ",
                       WithSeparators(base::U128(count)), inspect::NameOf(effort));
  }
  return out + fmt::format(". {} of this range {} in use.",
                           Plural(answer.values_in_use, noun(1), noun(2)),
                           answer.values_in_use == 1 ? "is" : "are");
}

/// Says why a family is answered that was not asked for, and what to do about it.
std::string FamilyNote(const Blockers& answer, bool replaced) {
  std::string out;
  if (!answer.leaves_with.empty()) {
    out = fmt::format("A ServiceCIDR leaves as a whole, and {} has these addresses too. ",
                      base::ToVisible(answer.leaves_with));
  }
  if (replaced && !answer.to) out += "Give --to for this family, too, to replace them.";
  return out;
}

/// What the answers for the other families of the question have.
struct OtherFamilies {
  bool block = false;     // Something is in the way there.
  bool replaced = false;  // Another range replaces one of them.
};

std::string OneText(const Blockers& answer, const Paint& paint, bool wide,
                    const OtherFamilies& others) {
  std::string out = BlockersHeading(answer, paint);
  if (const std::string note = FamilyNote(answer, others.replaced); !note.empty()) {
    out += Wrapped(note, kIndent, paint.prose_width());
  }
  if (answer.blockers.empty()) {
    out += std::string(kIndent, ' ') + paint.In(Color::kGreen, "No blockers") + "\n";
  } else {
    const size_t all = answer.blockers.size();
    const size_t shown = wide ? all : std::min(kBlockersShown, all);
    out += Wrapped(SummaryOf(answer), kIndent, paint.prose_width()) + "\n";
    out += BlockersTable(answer, shown, paint);
    if (shown < all) {
      out += fmt::format("  and {} more; -o wide lists all\n",
                         WithSeparators(base::U128(all - shown)));
    }
    out += AdviceList(answer, paint);
  }
  out += "\n" + Wrapped(OutcomeText(answer, others.block), kIndent, paint.prose_width());
  if (answer.left_behind > 0) {
    out += Wrapped(fmt::format("{} by hand will stay after the range is gone. Delete what nobody "
                               "needs.",
                               Plural(answer.left_behind, "IPAddress made", "IPAddresses made")),
                   kIndent, paint.prose_width());
  }
  for (const inspect::RangeRef& range : answer.leaving) {
    if (range.range == nullptr || range.range->exact) continue;
    out += Wrapped(fmt::format("The range {} is {}.", range.row->text, range.range->source),
                   kIndent, paint.prose_width());
  }
  return out;
}

codec::Value BlockerDocument(const Blocker& blocker) {
  codec::Array obstacles;
  codec::Array advice;
  for (const Obstacle obstacle : blocker.obstacles) {
    obstacles.push_back(inspect::NameOf(obstacle));
    advice.push_back(inspect::AdviceOn(obstacle));
  }
  return codec::Object{
      {"value", alloc::TextOf(blocker.value)},
      {"service", blocker.service == nullptr ? codec::Value()
                                             : codec::Value(ServiceDocument(*blocker.service))},
      {"record", blocker.record == nullptr
                     ? codec::Value()
                     : codec::Value(audit::TextOf(blocker.record->facts.object))},
      {"reservedFor", blocker.record == nullptr ? codec::Value()
                                                : StringOrNull(blocker.record->facts.reserved_for)},
      {"origin", blocker.held == nullptr ? codec::Value()
                                         : codec::Value(inspect::NameOf(blocker.held->origin))},
      {"manager", blocker.held == nullptr ? codec::Value() : StringOrNull(blocker.held->manager)},
      {"effort", inspect::NameOf(blocker.effort())},
      {"obstacles", std::move(obstacles)},
      {"advice", std::move(advice)}};
}

}  // namespace

std::string WhyText(const Blocker& blocker) {
  std::string out;
  for (const Obstacle obstacle : blocker.obstacles) {
    out += (out.empty() ? "" : "; ") + ObstacleText(obstacle, blocker);
  }
  return out;
}

std::string OutcomeText(const Blockers& answer, bool others) {
  const bool kubernetes_cidr = answer.pool != alloc::PoolId::kPorts && !answer.leaving.empty() &&
                               answer.leaving.front().row->kind == alloc::RangeKind::kServiceCidr;
  std::string out;
  switch (answer.outcome) {
    case Outcome::kAccepted:
      out = others ? fmt::format("No {} stands in the way.", ShortNoun(KindOf(answer.pool), 1))
                   : "Nothing stands in the way. The change can be made now.";
      break;
    case Outcome::kRefused:
      return "Berth refuses the change until they are gone. Set spec.disabled of the range, so "
             "that no new ones come.";
    case Outcome::kWaits:
      out =
          "Kubernetes accepts the deletion of the ServiceCIDR, gives nothing new out of it, and "
          "waits with Ready=False until these addresses are gone or another ServiceCIDR has them.";
      break;
    case Outcome::kUnchecked:
      return "Kubernetes does not check this: the range of node ports is a flag of the API "
             "servers. These Services keep their ports after a restart, and the API servers only "
             "report them as events. Move them first.";
  }
  if (kubernetes_cidr && (answer.to || !answer.whole)) {
    out += " The range of a ServiceCIDR cannot be changed: " + HowToShrink(answer);
  }
  return out;
}

std::string BlockersText(const inspect::Census& census, const std::vector<Blockers>& answers,
                         const Style& style, bool wide) {
  const Paint paint(style);
  std::string out;
  for (const Blockers& answer : answers) {
    if (!out.empty()) out += "\n\n";
    OtherFamilies others;
    for (const Blockers& other : answers) {
      others.block = others.block || (&other != &answer && !other.blockers.empty());
      others.replaced = others.replaced || other.to;
    }
    out += OneText(answer, paint, wide, others);
  }
  if (std::ranges::any_of(answers, &Blockers::made_again)) {
    out += "\n" + Wrapped(kMadeAgain, kIndent, paint.prose_width());
  }
  return out + GapsText(census.cluster(), paint);
}

codec::Value BlockersDocument(const inspect::Census& census, const std::vector<Blockers>& answers) {
  codec::Array out;
  for (const Blockers& answer : answers) {
    codec::Array leaving;
    for (const inspect::RangeRef& range : answer.leaving) {
      leaving.push_back(RangeRefDocument(range));
    }
    codec::Array blockers;
    for (const Blocker& blocker : answer.blockers) blockers.push_back(BlockerDocument(blocker));
    codec::Object efforts;
    for (const Effort effort : {Effort::kHard, Effort::kMedium, Effort::kEasy}) {
      efforts.Set(std::string(inspect::NameOf(effort)),
                  answer.by_effort[static_cast<size_t>(effort)]);
    }
    out.push_back(codec::Object{{"title", answer.title},
                                {"kind", inspect::NameOf(answer.pool)},
                                {"ranges", std::move(leaving)},
                                {"whole", answer.whole},
                                {"leavesWith", StringOrNull(answer.leaves_with)},
                                {"madeAgain", answer.made_again},
                                {"to", answer.to ? codec::Value(answer.to->text) : codec::Value()},
                                {"outcome", inspect::NameOf(answer.outcome)},
                                {"valuesInUse", answer.values_in_use},
                                {"serviceCount", answer.services},
                                {"recordCount", answer.records},
                                {"leftBehind", answer.left_behind},
                                {"efforts", std::move(efforts)},
                                {"blockers", std::move(blockers)}});
  }
  codec::Object document = DocumentOf("Blockers", census.cluster());
  document.Set("answers", std::move(out));
  document.Set("gaps", GapsDocument(census.cluster()));
  return document;
}

}  // namespace berth::cli
