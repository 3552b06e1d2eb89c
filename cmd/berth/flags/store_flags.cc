#include "berth/flags/store_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "berth/exit_code.h"
#include "berth/flags/command_set.h"
#include "berth/store/allocations_command.h"
#include "berth/store/migrate_command.h"
#include "berth/store/open.h"
#include "berth/store/reset_ranges_command.h"
#include "berth/store/salvage_command.h"
#include "berth/store/snapshot_command.h"
#include "berth/verify/verify_command.h"

namespace berth::cli {
namespace {

constexpr const char* kExitStatus =
    "\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

constexpr const char* kSnapshotHelp =
    "Saves a store to a file, creates a store from a file, or shows what is in it\n"
    "\n"
    "A snapshot is one file with the whole state at one revision. It works with every engine. It\n"
    "can be saved while a server runs. The other commands need a directory that no server uses.";

constexpr const char* kSnapshotExamples =
    "Examples:\n"
    "  berth snapshot save --data-dir /var/lib/berth berth.snap\n"
    "  berth snapshot status berth.snap\n"
    "  berth snapshot restore berth.snap --data-dir /var/lib/berth-new";

constexpr const char* kSaveHelp =
    "Saves the state of a data directory, or of a running server, to a file\n"
    "\n"
    "If a server uses the directory, the state comes from that server, which keeps running. For a\n"
    "server on another machine or on etcd, use the kubeconfig of an administrator.\n"
    "\n"
    "The file gets its name when it is complete and on disk. An existing file is not overwritten.";

constexpr const char* kSaveExamples =
    "Examples:\n"
    "  berth snapshot save --data-dir /var/lib/berth berth-$(date +%F).snap\n"
    "  berth snapshot save --kubeconfig ~/.kube/config berth.snap";

constexpr const char* kRestoreHelp =
    "Creates a data directory from a snapshot\n"
    "\n"
    "The whole file is checked first. Revisions continue 2^48 above those of the snapshot, so\n"
    "that no revision since the snapshot is used again. Clients that watch start over.";

constexpr const char* kRestoreExamples =
    "Example:\n"
    "  berth snapshot restore berth.snap --data-dir /var/lib/berth-new";

constexpr const char* kStatusHelp =
    "Shows what is in a snapshot or in a data directory\n"
    "\n"
    "All data is read and checked. Equal checksums mean equal contents, whatever the revisions.\n"
    "Keys that expire are not part of the checksum.";

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  berth snapshot status berth.snap\n"
    "  berth snapshot status --data-dir /var/lib/berth -o json | jq -r .checksum";

constexpr const char* kMigrateHelp =
    "Copies the state of one store into another and compares the two\n"
    "\n"
    "No server may use either store meanwhile. The source does not change. The revisions of the\n"
    "target are above those of the source, and clients that watch start over.";

constexpr const char* kMigrateExamples =
    "ENGINE is embedded:DIR, a data directory, or etcd:URL[,URL...], the members of an etcd\n"
    "cluster. The --etcd flags apply to the source and to the target. The password comes from a\n"
    "file or from the environment variable BERTH_ETCD_PASSWORD.\n"
    "\n"
    "Examples:\n"
    "  berth migrate --from embedded:/var/lib/berth --to etcd:http://127.0.0.1:2379\n"
    "  berth migrate --from etcd:https://10.0.0.5:2379,https://10.0.0.6:2379 \\\n"
    "    --etcd-cacert ca.pem --etcd-cert berth.pem --etcd-key berth-key.pem \\\n"
    "    --to embedded:/var/lib/berth-new";

constexpr const char* kAllocationsHelp =
    "Switches a store between the two forms in which it can keep allocations\n"
    "\n"
    "records: one object for each allocated address and port (ClusterIPAllocatorAPI=true).\n"
    "bitmaps: one bitmap for each range, as in older versions of Kubernetes.\n"
    "\n"
    "Servers keep running. Each write keeps both forms up to date until the new form is complete\n"
    "and checked. If the switch is interrupted, the next start of a server or of this command\n"
    "finishes it. To go back, switch to the previous form.\n"
    "\n"
    "Bitmaps can hold one range of each kind, with at most 2^20 addresses, and no reservations.\n"
    "What does not fit is listed and nothing is changed, unless --force leaves it out.";

constexpr const char* kAllocationsExamples =
    "If a server uses the data directory, that server does the work. --store is for a store that\n"
    "no server uses, or for etcd: etcd:URL[,URL...].\n"
    "\n"
    "Examples:\n"
    "  berth migrate-allocations --to bitmaps --data-dir /var/lib/berth\n"
    "  berth migrate-allocations --to records --kubeconfig ~/.kube/config\n"
    "  berth migrate-allocations --to records --store etcd:http://127.0.0.1:2379";

constexpr const char* kResetRangesHelp =
    "Makes the first ranges of a store those of the given flags\n"
    "\n"
    "The range flags of `berth serve` count when a store is new. From then on the stored ranges\n"
    "count. This command makes the flags count once more. Without --yes it shows what would\n"
    "change, and whether Services are in the way, and changes nothing.\n"
    "\n"
    "It changes the ranges that a store begins with and the ServiceCIDR `kubernetes`, and no\n"
    "other ranges. A family that the flag does not name is removed. It is refused while a Service\n"
    "or a reservation has an address or a port that no range would have any more, except for\n"
    "default/kubernetes, which is created again with the first address of the new range.";

constexpr const char* kResetRangesExamples =
    "Stop the server that uses the data directory first. With --store etcd:URL[,URL...], servers\n"
    "keep running.\n"
    "\n"
    "Examples:\n"
    "  berth reset-ranges --data-dir /var/lib/berth --service-cluster-ip-range 10.97.0.0/16\n"
    "  berth reset-ranges --data-dir /var/lib/berth --service-cluster-ip-range 10.97.0.0/16 --yes\n"
    "  berth reset-ranges --store etcd:http://127.0.0.1:2379 --service-node-port-range 31000-31999";

constexpr const char* kSalvageHelp =
    "Discards the damaged end of a data directory's log\n"
    "\n"
    "Without --yes it shows what is damaged and what would be lost, and changes nothing. With\n"
    "--yes it cuts the log where the damage begins. A copy of what is cut stays in the directory.\n"
    "Revisions continue far above the lost ones, and clients that watch start over.";

constexpr const char* kSalvageExamples =
    "Examples:\n"
    "  berth salvage --data-dir /var/lib/berth          show what is damaged\n"
    "  berth salvage --data-dir /var/lib/berth --yes    cut it off";

constexpr const char* kVerifyHelp =
    "Checks that what a cluster or a store says about addresses and ports agrees\n"
    "\n"
    "It reads all Services, records or bitmaps, and ranges at one revision, and reports each "
    "value\n"
    "with two owners, each Service whose value is not recorded, each record without its Service "
    "and\n"
    "so on, with what to do about it. It runs the checks of the server's auditor, and never "
    "writes.";

constexpr const char* kVerifyExamples =
    "Without a source, it looks at the cluster that kubectl would use, be it Berth or Kubernetes.\n"
    "--data-dir needs a directory that no server uses. A running server is looked at again after\n"
    "some seconds before anything is reported that it may be about to write. An API does not show\n"
    "everything; the output says what was not checked.\n"
    "\n"
    "With --watch it follows a running server, and a finding counts once it has lasted some "
    "seconds.\n"
    "-o wide lists all findings, with the objects that they are about.\n"
    "\n"
    "Examples:\n"
    "  berth verify --kubeconfig ~/.kube/config\n"
    "  berth verify --watch --context prod\n"
    "  berth verify --data-dir /var/lib/berth\n"
    "  berth verify --snapshot berth.snap -o json | jq -r '.findings[].message'\n"
    "  berth verify --etcd-servers https://10.0.0.5:2379,https://10.0.0.6:2379 \\\n"
    "    --etcd-cacert ca.pem --etcd-cert berth.pem --etcd-key berth-key.pem\n"
    "\n"
    "Exit status: 0 if nothing is wrong, 1 for findings, 2 if it could not look.";

std::string Footer(const char* examples) { return std::string(examples) + kExitStatus; }

CLI::App* AddCommand(CLI::App& parent, const char* name, const char* help, const char* examples) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->footer(Footer(examples));
  return command;
}

CLI::Option* AddDataDir(CLI::App& command, std::string& into) {
  return command.add_option("--data-dir", into, "Data directory")->option_text("DIR");
}

void AddEtcd(CLI::App& command, EtcdArguments& etcd) {
  const auto add = [&command](const char* name, std::string& into, const char* help,
                              const char* value) {
    command.add_option(name, into, help)->option_text(value);
  };
  add("--etcd-prefix", etcd.prefix, "Prefix of keys in etcd (default /registry)", "PREFIX");
  add("--etcd-cacert", etcd.cacert, "CA that signed etcd's certificate (default the system's CAs)",
      "FILE");
  add("--etcd-cert", etcd.cert, "Client certificate for etcd", "FILE");
  add("--etcd-key", etcd.key, "Key of the client certificate", "FILE");
  add("--etcd-user", etcd.user, "User name", "NAME");
  add("--etcd-password-file", etcd.password_file, "File with the user's password", "FILE");
}

}  // namespace

struct StoreCommands::State {
  CLI::App* snapshot = nullptr;
  CLI::App* save = nullptr;
  CLI::App* restore = nullptr;
  CLI::App* status = nullptr;
  CLI::App* migrate = nullptr;
  CLI::App* allocations = nullptr;
  CLI::App* reset = nullptr;
  CLI::App* salvage = nullptr;
  CLI::App* verify = nullptr;
  AllocationsArguments allocations_arguments;
  SnapshotArguments snapshot_arguments;
  MigrateArguments migrate_arguments;
  ResetRangesArguments reset_arguments;
  SalvageArguments salvage_arguments;
  VerifyArguments verify_arguments;

  void AddSnapshot(CLI::App& program) {
    SnapshotArguments& arguments = snapshot_arguments;
    snapshot = AddCommand(program, "snapshot", kSnapshotHelp, kSnapshotExamples);
    snapshot->require_subcommand(0, 1);
    save = AddCommand(*snapshot, "save", kSaveHelp, kSaveExamples);
    save->add_option("FILE", arguments.file, "File to write")->required()->option_text(" ");
    AddDataDir(*save, arguments.data_dir);
    save->add_option("--kubeconfig", arguments.kubeconfig, "Kubeconfig of the server")
        ->option_text("FILE");
    restore = AddCommand(*snapshot, "restore", kRestoreHelp, kRestoreExamples);
    restore->add_option("FILE", arguments.file, "Snapshot")->required()->option_text(" ");
    AddDataDir(*restore, arguments.data_dir)->required();
    status = AddCommand(*snapshot, "status", kStatusHelp, kStatusExamples);
    status->add_option("FILE", arguments.file, "Snapshot")->option_text(" ");
    AddDataDir(*status, arguments.data_dir);
    status
        ->add_option("-o,--output", arguments.output,
                     "Output format: table or json (default table)")
        ->option_text("FORMAT");
  }

  void AddMigrate(CLI::App& program) {
    MigrateArguments& arguments = migrate_arguments;
    migrate = AddCommand(program, "migrate", kMigrateHelp, kMigrateExamples);
    migrate->add_option("--from", arguments.from, "Store to copy")
        ->required()
        ->option_text("ENGINE");
    migrate->add_option("--to", arguments.to, "Store to fill; created if it does not exist")
        ->required()
        ->option_text("ENGINE");
    migrate->add_flag("--replace", arguments.replace,
                      "Delete the contents of the target first; without it the target must be "
                      "empty");
    AddEtcd(*migrate, arguments.etcd);
  }

  void AddAllocations(CLI::App& program) {
    AllocationsArguments& arguments = allocations_arguments;
    allocations =
        AddCommand(program, "migrate-allocations", kAllocationsHelp, kAllocationsExamples);
    allocations->add_option("--to", arguments.to, "New form: records or bitmaps")
        ->required()
        ->option_text("FORM");
    allocations->add_flag("--force", arguments.force, "Leave out what does not fit into bitmaps");
    AddDataDir(*allocations, arguments.data_dir);
    allocations->add_option("--kubeconfig", arguments.kubeconfig, "Kubeconfig of the server")
        ->option_text("FILE");
    allocations->add_option("--store", arguments.store, "Store to open directly")
        ->option_text("ENGINE");
    AddEtcd(*allocations, arguments.etcd);
  }

  void AddResetRanges(CLI::App& program) {
    ResetRangesArguments& arguments = reset_arguments;
    reset = AddCommand(program, "reset-ranges", kResetRangesHelp, kResetRangesExamples);
    reset
        ->add_option("--service-cluster-ip-range", arguments.cluster_ip_range,
                     "New first range of addresses, or one of each family, the primary one first")
        ->option_text("CIDR[,CIDR]");
    reset
        ->add_option("--service-node-port-range", arguments.node_port_range,
                     "New first range of node ports")
        ->option_text("PORTS");
    AddDataDir(*reset, arguments.data_dir);
    reset->add_option("--store", arguments.store, "Store to open directly")->option_text("ENGINE");
    reset->add_flag("--yes", arguments.yes, "Change the ranges");
    AddEtcd(*reset, arguments.etcd);
  }

  void AddSalvage(CLI::App& program) {
    salvage = AddCommand(program, "salvage", kSalvageHelp, kSalvageExamples);
    AddDataDir(*salvage, salvage_arguments.data_dir)->required();
    salvage->add_flag("--yes", salvage_arguments.yes, "Cut the log");
  }

  void AddVerify(CLI::App& program) {
    VerifyArguments& arguments = verify_arguments;
    verify = program.add_subcommand("verify", kVerifyHelp);
    verify->footer(kVerifyExamples);
    AddSourceFlags(*verify, arguments.source);
    verify->add_option("--etcd-servers", arguments.etcd_servers, "Etcd cluster with a store")
        ->delimiter(',')
        ->option_text("URL[,URL...]");
    AddEtcd(*verify, arguments.etcd);
    AddOutputFlags(*verify, arguments.output);
  }
};

StoreCommands::StoreCommands(CLI::App& program) : state_(std::make_unique<State>()) {
  state_->AddSnapshot(program);
  state_->AddMigrate(program);
  state_->AddAllocations(program);
  state_->AddResetRanges(program);
  state_->AddSalvage(program);
  state_->AddVerify(program);
}

StoreCommands::~StoreCommands() = default;

std::optional<int> StoreCommands::Run() const {
  const State& state = *state_;
  if (state.save->parsed()) return RunSnapshotSave(state.snapshot_arguments);
  if (state.restore->parsed()) return RunSnapshotRestore(state.snapshot_arguments);
  if (state.status->parsed()) return RunSnapshotStatus(state.snapshot_arguments);
  if (state.migrate->parsed()) return RunMigrate(state.migrate_arguments);
  if (state.allocations->parsed()) return RunMigrateAllocations(state.allocations_arguments);
  if (state.reset->parsed()) return RunResetRanges(state.reset_arguments);
  if (state.salvage->parsed()) return RunSalvage(state.salvage_arguments);
  if (state.verify->parsed()) return RunVerify(state.verify_arguments);
  if (!state.snapshot->parsed()) return std::nullopt;
  return ReportError("snapshot", {.reason = base::Reason::kInvalid,
                                  .message = "a command is missing: save, restore or status; see "
                                             "berth snapshot --help"});
}

}  // namespace berth::cli
