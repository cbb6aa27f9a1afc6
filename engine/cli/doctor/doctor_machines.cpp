#include "engine/cli/doctor/doctor_machines.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/cli/spool_folder.h"
#include "engine/execute/machine.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_orders.h"
#include "engine/execute/run_folder.h"
#include "engine/machine/gather_texts.h"
#include "engine/machine/read_facts.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds k_arrival{60}, k_look{90}, k_moment{5};

Result<Machines> facts_of(const std::vector<RecordedMachine>& records) {
  SHARDLAB_TRY(const KnownVariables known, known_variables());
  Machines machines;
  for (const RecordedMachine& record : records) machines.push_back(read_facts(record, known));
  return machines;
}

Result<Machines> look_here(const std::string& record) {
  MachineTexts texts = gather_texts(current_environment());
  if (!record.empty()) SHARDLAB_CHECK_OK(write_machine(texts, record));
  return facts_of({{"this machine", std::move(texts)}});
}

fs::path record_of(int rank, const fs::path& folder) {
  return folder / fmt::format("rank_{:05}", rank);
}

Status record_rank(int rank, const fs::path& folder) {
  const fs::path own = record_of(rank, folder);
  std::error_code ignored;
  fs::remove_all(own, ignored);  // of an earlier look
  return write_machine(gather_texts(current_environment()), own);
}

// Rank 0: orders the others to record their machines, and reads what was recorded now. Of ranks that did not
// come an earlier look may lie there.
Result<Machines> look_at_ranks(OrderWriter& orders, int world, const fs::path& records, Console& console) {
  if (const std::vector<int> missing = orders.gather(k_arrival); !missing.empty())
    console.note(fmt::format("without rank{} {}: did not come within {} s", missing.size() == 1 ? "" : "s",
                             fmt::join(missing, ", "), k_arrival.count()));
  SHARDLAB_CHECK_OK(orders.write({records, 0}));
  SHARDLAB_CHECK_OK(record_rank(0, records));
  SHARDLAB_TRY(std::vector<RecordedMachine> machines, read_machines(record_of(0, records)));
  const auto reports = orders.reports(k_look);
  for (int rank = 1; rank < world; ++rank) {
    const auto& report = reports[static_cast<std::size_t>(rank)];
    if (report && report->error) console.note(fmt::format("rank {}: {}", rank, to_string(*report->error)));
    if (!report || report->error) continue;
    SHARDLAB_TRY(std::vector<RecordedMachine> read, read_machines(record_of(rank, records)));
    machines.push_back(std::move(read.front()));
  }
  return facts_of(machines);
}

Result<int> lead(const RankEnvironment& environment, const fs::path& folder, const std::string& record,
                 Console& console, const std::function<Result<int>(const Machines*)>& report) {
  SHARDLAB_TRY(OrderWriter orders, OrderWriter::create(folder, environment.world));
  const fs::path records = record.empty() ? folder / "machines" : fs::absolute(record);
  const Result<Machines> machines = look_at_ranks(orders, environment.world, records, console);
  std::error_code ignored;
  if (record.empty()) fs::remove_all(records, ignored);
  const Result<int> code = machines ? report(&*machines) : fail(machines.error());
  (void)orders.write({{}, code ? *code : exit_code(code.error().kind)});
  orders.clean_up(k_moment);
  return code;
}

Result<int> follow(const RankEnvironment& environment, const fs::path& folder) {
  SHARDLAB_CHECK_OK(check_run_folder(folder));
  OrderReader orders(folder, environment.rank);
  while (true) {
    const auto order = orders.next(k_arrival + k_look);
    if (!order)
      return run_failed(in_file(folder.string()), "rank 0 gave no order in it",
                        "do all ranks run this command, in one folder that their machines share?");
    if (order->job.empty()) {
      orders.leave();
      return order->exit_code;
    }
    const Status recorded = record_rank(environment.rank, order->job);
    SHARDLAB_CHECK_OK(
        orders.report({host_identity(), {}, recorded ? std::nullopt : std::optional(recorded.error())}));
  }
}

}  // namespace

Result<int> with_machines(const MachineRequest& request, Console& console,
                          const std::function<Result<int>(const Machines*)>& report) {
  if (request.here && !request.from.empty())
    return bad_input("--from", "looks at other machines than --machine", "one of them");
  if (!request.record.empty() && !request.here)
    return bad_input("--record", "is for --machine", "`doctor --machine --record FOLDER`");
  if (!request.from.empty()) {
    SHARDLAB_TRY(const std::vector<RecordedMachine> records, read_machines(request.from));
    SHARDLAB_TRY(const Machines machines, facts_of(records));
    return report(&machines);
  }
  if (!request.here) return report(nullptr);
  SHARDLAB_TRY(const auto joined, one_of_several(current_environment()));
  if (!joined) {
    SHARDLAB_TRY(const Machines machines, look_here(request.record));
    return report(&machines);
  }
  const fs::path folder = meeting_folder(*joined);
  if (joined->rank == 0) return lead(*joined, folder, request.record, console, report);
  return follow(*joined, folder);
}

}  // namespace shardlab
