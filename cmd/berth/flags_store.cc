#include "berth/flags_store.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "berth/exit_code.h"
#include "berth/store/allocations_command.h"
#include "berth/store/migrate_command.h"
#include "berth/store/salvage_command.h"
#include "berth/store/snapshot_command.h"

namespace berth::cli {
namespace {

constexpr const char* kExitStatus =
    "\n"
    "\n"
    "Exit status: 0 if all is well, 2 if an argument or what it names is not, else 1.";

constexpr const char* kSnapshotHelp =
    "Saves a store to a file, makes a store of one, or shows what is in it\n"
    "\n"
    "A snapshot is one file with the whole state at one revision; it fits every engine. One can "
    "be\n"
    "saved while a server runs; the other commands work on a directory that no server uses.";

constexpr const char* kSnapshotExamples =
    "Examples:\n"
    "  berth snapshot save --data-dir /var/lib/berth berth.snap\n"
    "  berth snapshot status berth.snap\n"
    "  berth snapshot restore berth.snap --data-dir /var/lib/berth-new";

constexpr const char* kSaveHelp =
    "Saves the state of a data directory, or of a running server, to a file\n"
    "\n"
    "A server that uses the directory is asked for its state and goes on meanwhile. A server "
    "elsewhere,\n"
    "or on etcd, is named by a kubeconfig of an administrator.\n"
    "\n"
    "The file appears under its name once it is whole and on the disk. A file that is there is "
    "not\n"
    "written over.";

constexpr const char* kSaveExamples =
    "Examples:\n"
    "  berth snapshot save --data-dir /var/lib/berth berth-$(date +%F).snap\n"
    "  berth snapshot save --kubeconfig ~/.kube/config berth.snap";

constexpr const char* kRestoreHelp =
    "Makes a data directory of a snapshot\n"
    "\n"
    "All of the file is checked first. Revisions go on 2^48 above those of the snapshot, so that "
    "no\n"
    "revision that was given out since comes a second time; clients that watch start over.";

constexpr const char* kRestoreExamples =
    "Example:\n"
    "  berth snapshot restore berth.snap --data-dir /var/lib/berth-new";

constexpr const char* kStatusHelp =
    "Shows what is in a snapshot or in a data directory\n"
    "\n"
    "All of it is read and checked. Two that have the same checksum hold the same, whatever their\n"
    "revisions; keys that expire do not count.";

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  berth snapshot status berth.snap\n"
    "  berth snapshot status --data-dir /var/lib/berth -o json | jq -r .checksum";

constexpr const char* kMigrateHelp =
    "Copies the state of one store into another and compares the two\n"
    "\n"
    "No server may use either of them meanwhile. The source stays as it is. The target's "
    "revisions\n"
    "lie above the source's, and clients that watch start over.";

constexpr const char* kMigrateExamples =
    "ENGINE is embedded:DIR, a data directory, or etcd:URL[,URL...], the members of an etcd "
    "cluster.\n"
    "The flags about etcd hold for whichever of the two it is. A password comes from a file or "
    "from\n"
    "the variable BERTH_ETCD_PASSWORD.\n"
    "\n"
    "Examples:\n"
    "  berth migrate --from embedded:/var/lib/berth --to etcd:http://127.0.0.1:2379\n"
    "  berth migrate --from etcd:https://10.0.0.5:2379,https://10.0.0.6:2379 \\\n"
    "    --etcd-cacert ca.pem --etcd-cert berth.pem --etcd-key berth-key.pem \\\n"
    "    --to embedded:/var/lib/berth-new";

constexpr const char* kAllocationsHelp =
    "Switches a store between the two forms in which it can keep allocations\n"
    "\n"
    "records is an object for each address and port that is taken (ClusterIPAllocatorAPI=true); "
    "bitmaps\n"
    "is a bitmap for each range, as older Kubernetes has it. Servers go on meanwhile: each write "
    "keeps\n"
    "both forms until the new one is whole and checked. What is cut off is finished by the next "
    "start,\n"
    "or by this command; to go back, ask for the form that it came from.\n"
    "\n"
    "Bitmaps have room for one range of each kind, of 2^20 addresses at most, and for no "
    "reservations.\n"
    "What stands in the way is listed and nothing is changed, unless --force leaves it out.";

constexpr const char* kAllocationsExamples =
    "A server that uses the data directory does it itself. --store is for a store whose servers "
    "are\n"
    "not running, or for etcd: etcd:URL[,URL...].\n"
    "\n"
    "Examples:\n"
    "  berth migrate-allocations --to bitmaps --data-dir /var/lib/berth\n"
    "  berth migrate-allocations --to records --kubeconfig ~/.kube/config\n"
    "  berth migrate-allocations --to records --store etcd:http://127.0.0.1:2379";

constexpr const char* kSalvageHelp =
    "Gives up the damaged end of a data directory's log\n"
    "\n"
    "Without --yes it shows what is damaged and what would be lost, and changes nothing. With it, "
    "the\n"
    "log is cut where the damage begins; a copy of what is cut stays in the directory. Revisions "
    "go\n"
    "on far above the lost ones, and clients that watch start over.";

constexpr const char* kSalvageExamples =
    "Examples:\n"
    "  berth salvage --data-dir /var/lib/berth          what is damaged, what would be lost?\n"
    "  berth salvage --data-dir /var/lib/berth --yes    cut it off";

std::string Footer(const char* examples) { return std::string(examples) + kExitStatus; }

CLI::App* AddCommand(CLI::App& parent, const char* name, const char* help, const char* examples) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->footer(Footer(examples));
  return command;
}

CLI::Option* AddDataDir(CLI::App& command, std::string& into) {
  return command.add_option("--data-dir", into, "The data directory")->option_text("DIR");
}

void AddEtcd(CLI::App& command, EtcdArguments& etcd) {
  const auto add = [&command](const char* name, std::string& into, const char* help,
                              const char* value) {
    command.add_option(name, into, help)->option_text(value);
  };
  add("--etcd-prefix", etcd.prefix, "Where in etcd; /registry unless given", "PREFIX");
  add("--etcd-cacert", etcd.cacert, "Who signs etcd's certificate; the system's unless given",
      "FILE");
  add("--etcd-cert", etcd.cert, "The certificate to show to etcd", "FILE");
  add("--etcd-key", etcd.key, "Its key", "FILE");
  add("--etcd-user", etcd.user, "Whom to log in as", "NAME");
  add("--etcd-password-file", etcd.password_file, "A file that holds the password", "FILE");
}

}  // namespace

struct StoreCommands::State {
  CLI::App* snapshot = nullptr;
  CLI::App* save = nullptr;
  CLI::App* restore = nullptr;
  CLI::App* status = nullptr;
  CLI::App* migrate = nullptr;
  CLI::App* allocations = nullptr;
  CLI::App* salvage = nullptr;
  AllocationsArguments allocations_arguments;
  SnapshotArguments snapshot_arguments;
  MigrateArguments migrate_arguments;
  SalvageArguments salvage_arguments;

  void AddSnapshot(CLI::App& program) {
    SnapshotArguments& arguments = snapshot_arguments;
    snapshot = AddCommand(program, "snapshot", kSnapshotHelp, kSnapshotExamples);
    snapshot->require_subcommand(0, 1);
    save = AddCommand(*snapshot, "save", kSaveHelp, kSaveExamples);
    save->add_option("FILE", arguments.file, "The file to write")->required()->option_text(" ");
    AddDataDir(*save, arguments.data_dir);
    save->add_option("--kubeconfig", arguments.kubeconfig, "The server to save from, and as whom")
        ->option_text("FILE");
    restore = AddCommand(*snapshot, "restore", kRestoreHelp, kRestoreExamples);
    restore->add_option("FILE", arguments.file, "The snapshot")->required()->option_text(" ");
    AddDataDir(*restore, arguments.data_dir)->required();
    status = AddCommand(*snapshot, "status", kStatusHelp, kStatusExamples);
    status->add_option("FILE", arguments.file, "A snapshot")->option_text(" ");
    AddDataDir(*status, arguments.data_dir);
    status->add_option("-o,--output", arguments.output, "table (the default) or json")
        ->option_text("FORMAT");
  }

  void AddMigrate(CLI::App& program) {
    MigrateArguments& arguments = migrate_arguments;
    migrate = AddCommand(program, "migrate", kMigrateHelp, kMigrateExamples);
    migrate->add_option("--from", arguments.from, "The store to copy")
        ->required()
        ->option_text("ENGINE");
    migrate->add_option("--to", arguments.to, "The store to fill, which is made if it is missing")
        ->required()
        ->option_text("ENGINE");
    migrate->add_flag("--replace", arguments.replace,
                      "Delete what the target holds; without this it must hold nothing");
    AddEtcd(*migrate, arguments.etcd);
  }

  void AddAllocations(CLI::App& program) {
    AllocationsArguments& arguments = allocations_arguments;
    allocations =
        AddCommand(program, "migrate-allocations", kAllocationsHelp, kAllocationsExamples);
    allocations->add_option("--to", arguments.to, "records or bitmaps")
        ->required()
        ->option_text("FORM");
    allocations->add_flag("--force", arguments.force, "Leave out what bitmaps have no room for");
    AddDataDir(*allocations, arguments.data_dir);
    allocations->add_option("--kubeconfig", arguments.kubeconfig, "The server to ask, and as whom")
        ->option_text("FILE");
    allocations->add_option("--store", arguments.store, "The store")->option_text("ENGINE");
    AddEtcd(*allocations, arguments.etcd);
  }

  void AddSalvage(CLI::App& program) {
    salvage = AddCommand(program, "salvage", kSalvageHelp, kSalvageExamples);
    AddDataDir(*salvage, salvage_arguments.data_dir)->required();
    salvage->add_flag("--yes", salvage_arguments.yes, "Cut");
  }
};

StoreCommands::StoreCommands(CLI::App& program) : state_(std::make_unique<State>()) {
  state_->AddSnapshot(program);
  state_->AddMigrate(program);
  state_->AddAllocations(program);
  state_->AddSalvage(program);
}

StoreCommands::~StoreCommands() = default;

std::optional<int> StoreCommands::Run() const {
  const State& state = *state_;
  if (state.save->parsed()) return RunSnapshotSave(state.snapshot_arguments);
  if (state.restore->parsed()) return RunSnapshotRestore(state.snapshot_arguments);
  if (state.status->parsed()) return RunSnapshotStatus(state.snapshot_arguments);
  if (state.migrate->parsed()) return RunMigrate(state.migrate_arguments);
  if (state.allocations->parsed()) return RunMigrateAllocations(state.allocations_arguments);
  if (state.salvage->parsed()) return RunSalvage(state.salvage_arguments);
  if (!state.snapshot->parsed()) return std::nullopt;
  fmt::print(stderr,
             "berth snapshot: a command is missing: save, restore or status; see berth snapshot "
             "--help\n");
  return kBadUsage;
}

}  // namespace berth::cli
