#include "berth/store/migrate_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/paint.h"
#include "berth/store/address.h"
#include "berth/store/progress.h"
#include "berth/store/report.h"
#include "berth/terminal.h"
#include "store/blocking.h"
#include "store/copy.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using store::Revision;

constexpr std::string_view kMigrate = "migrate";

struct Way {
  Address from;
  Address to;
};

bool SamePlace(const Address& from, const Address& to) {
  if (from.IsEmbedded() && to.IsEmbedded()) {
    std::error_code error;
    return std::filesystem::equivalent(from.directory, to.directory, error);
  }
  return from == to;
}

Result<Way> ParseWay(const MigrateArguments& arguments) {
  const auto named = [](std::string_view flag, const base::Error& error) {
    return base::Fail(error.reason, fmt::format("{} {}", flag, error.message));
  };
  const Result<Address> from = ParseAddress(arguments.from);
  if (!from) return named("--from", from.error());
  const Result<Address> to = ParseAddress(arguments.to);
  if (!to) return named("--to", to.error());
  if (SamePlace(*from, *to)) {
    return base::Fail(Reason::kInvalid, "--from and --to name the same store");
  }
  return Way{.from = *from, .to = *to};
}

std::string_view PhaseText(store::CopyPhase phase) {
  switch (phase) {
    case store::CopyPhase::kDeleting:
      return "deleting";
    case store::CopyPhase::kCopying:
      return "copying";
    case store::CopyPhase::kChecking:
      break;
  }
  return "comparing";
}

Result<store::Copied> Copy(const MigrateArguments& arguments, const Way& way, Tools& tools,
                           Progress& progress) {
  const auto source = OpenToRead(way.from, arguments.etcd, tools);
  if (!source) return tl::unexpected(source.error());
  const Result<Revision> above = store::CurrentNow(*source->engine);
  if (!above) return tl::unexpected(above.error());
  const auto target = OpenToFill(way.to, arguments.etcd, *above, tools);
  if (!target) return tl::unexpected(target.error());
  const store::CopyOptions options{
      .note = fmt::format("migrating from {}, begun {}", way.from.Text(),
                          base::FormatRfc3339Millis(tools.clock().Now())),
      .above = *above,
      .replace = arguments.replace,
      .normalise = WithoutSlots(),
      .progress = [&](const store::CopyProgress& done) {
        const bool deleting = done.phase == store::CopyPhase::kDeleting;
        progress.Show(PhaseText(done.phase), done.keys, deleting ? target->keys : source->keys,
                      done.bytes);
      }};
  auto copied = store::CopyInto(*target->engine, store::EntriesOf(*source->engine), options);
  if (!copied && copied.error().reason == Reason::kAlreadyExists) {
    copied.error().message += "; use --replace to delete its contents first";
  }
  return copied;
}

}  // namespace

int RunMigrate(const MigrateArguments& arguments) {
  const auto way = ParseWay(arguments);
  if (!way) return ReportError(kMigrate, way.error());
  Tools tools;
  Progress progress(std::string(kMigrate), tools.clock());
  const auto copied = Copy(arguments, *way, tools, progress);
  if (!copied) return ReportError(kMigrate, copied.error());
  const std::string what = fmt::format("Migrated {} to {}", base::ToVisible(way->from.Text()),
                                       base::ToVisible(way->to.Text()));
  const Paint paint(DetectStyle());
  return PrintOut(CopiedText(what, *copied, progress.Elapsed(), paint)) ? kFine : kFailed;
}

}  // namespace berth::cli
