#include "berth/store/salvage_command.h"

#include <fmt/format.h>

#include <string_view>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/paint.h"
#include "berth/store/open.h"
#include "berth/store/report.h"
#include "berth/terminal.h"
#include "berth/text.h"
#include "store/blocking.h"
#include "store/rocks/salvage.h"

namespace berth::cli {
namespace {

using base::Result;
using store::rocks::BadRecord;
using store::rocks::Damage;
using store::rocks::Salvaged;

constexpr std::string_view kSalvage = "salvage";

std::string Records(uint64_t records) { return Plural(records, "record", "records"); }

/// Describes the damage, what a cut would lose, and the alternatives.
std::string DamageText(const std::string& directory, const Damage& damage, const Paint& paint) {
  const std::string shown = base::ToVisible(directory);
  const std::string command = fmt::format("berth salvage --data-dir {} --yes", shown);
  if (!damage.bad) {
    return fmt::format("A salvage of {} was interrupted after the cut\n\n  To finish it: {}\n",
                       shown, command);
  }
  const BadRecord& bad = *damage.bad;
  std::string out = fmt::format("The log of {} is damaged\n\n", shown);
  out += FactsText({{"File", base::ToVisible(bad.file)},
                    {"At byte", fmt::format("{}: {}", bad.offset, base::ToVisible(bad.what))},
                    {"After it", fmt::format("{} that can be read", Records(bad.lost_records))},
                    {"Cut", ByteText(bad.lost_bytes)}});
  out += "\n";
  out += Wrapped(
      "A cut discards the damaged record and everything after it. Acknowledged writes are lost, "
      "possibly including the newest. A copy of what is cut stays in the directory. If you have a "
      "recent snapshot, restore that instead.",
      2, paint.width());
  return out + fmt::format("\n  To cut the log: {}\n", command);
}

std::string SalvagedText(const std::string& directory, const Salvaged& salvaged,
                         const store::StateSummary& summary, const Paint& paint) {
  Facts facts;
  if (salvaged.copy) facts.emplace_back("Copy", base::ToVisible(*salvaged.copy));
  facts.emplace_back("Keys", WithSeparators(base::U128(summary.keys())));
  facts.emplace_back("Revision", fmt::format("nothing above {} is left", salvaged.last.value));
  facts.emplace_back("", fmt::format("{} is where it continues; existing watches start over",
                                     salvaged.raised.value));
  std::string out = fmt::format("Salvaged {}\n\n{}", base::ToVisible(directory), FactsText(facts));
  if (const std::string table = KindTable(summary.kinds(), paint); !table.empty()) {
    out += "\n" + table;
  }
  return out;
}

/// Reports that there is nothing to cut, after checking that the whole store is readable.
int ReportWhole(const std::string& directory, Tools& tools) {
  const auto store = OpenToRead({.directory = directory}, {}, tools);
  store::StateSummary summary;
  const auto read = store ? store::Summarise(*store->engine, {}, summary)
                          : Result<store::Revision>(tl::unexpected(store.error()));
  if (!read) {
    base::Error error = read.error();
    error.message = fmt::format(
        "there is nothing to cut, because every record of the log can be read; restore a snapshot: "
        "{}",
        error.message);
    return ReportError(kSalvage, error);
  }
  const bool printed =
      PrintOut(fmt::format("Nothing to salvage: {} can be read, {} at revision {}\n",
                           base::ToVisible(directory), KeysText(summary.keys()), read->value));
  return printed ? kFine : kFailed;
}

}  // namespace

int RunSalvage(const SalvageArguments& arguments) {
  Tools tools;
  const Paint paint(DetectStyle());
  const std::string directory = StoreDirectory(arguments.data_dir);
  const auto damage = store::rocks::InspectDamage(directory, tools.clock());
  if (!damage) return ReportError(kSalvage, damage.error());
  // A torn end was never acknowledged, and the engine cuts it off by itself.
  const bool damaged = damage->interrupted || (damage->bad && !damage->bad->tail);
  if (!damaged) return ReportWhole(directory, tools);
  if (!arguments.yes) {
    PrintOut(DamageText(directory, *damage, paint));
    return kFailed;
  }
  const auto salvaged = store::rocks::Salvage(directory, tools.log(), tools.clock());
  if (!salvaged) return ReportError(kSalvage, salvaged.error());
  const auto store = OpenToRead({.directory = directory}, {}, tools);
  if (!store) return ReportError(kSalvage, store.error());
  store::StateSummary summary;
  const auto read = store::Summarise(*store->engine, {}, summary);
  if (!read) return ReportError(kSalvage, read.error());
  return PrintOut(SalvagedText(directory, *salvaged, summary, paint)) ? kFine : kFailed;
}

}  // namespace berth::cli
