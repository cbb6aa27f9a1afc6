#include "engine/cli/search/validate_search.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/cli/validation.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/paths/repeatable_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/search/report/measured_ranking.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// As a real run of ours has it.
Result<Scenario> scenario_of(const SearchReport& report, const Candidate& candidate) {
  const BaseScenario& base = report.question.base;
  std::vector<std::string> overrides = base.overrides;
  const std::vector<std::string>& settings = candidate.configuration.settings;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  SHARDLAB_TRY(Scenario scenario, parse_scenario(base.text, base.file, overrides));
  return issued_by_our_executor(std::move(scenario));
}

// A scenario each, and the commands that run them into a database of their own.
Status write_all(const SearchReport& report, const std::vector<Candidate>& best, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return bad_input(in_file(folder.string()), error.message());
  std::string commands =
      "#!/bin/sh\n# Runs each of these into runs.db beside this file. Afterwards, where the search was "
      "made:\n"
      "#   shardlab validate --search FILE --from runs.db\ncd \"$(dirname \"$0\")\" || exit 1\n";
  for (std::size_t i = 0; i < best.size(); ++i) {
    SHARDLAB_TRY(const Scenario scenario, scenario_of(report, best[i]));
    const std::string name = fmt::format("{}.yaml", i + 1);
    SHARDLAB_CHECK_OK(write_output_file(folder / name, repeatable_scenario(scenario)));
    commands += fmt::format("shardlab run {} --db runs.db\n", name);
  }
  return write_output_file(folder / "run.sh", commands);
}

// The newest measured run of the same plan.
Result<MeasuredCandidate> find_run(const RunStore& store, const SearchReport& report,
                                   const Candidate& candidate) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of(report, candidate));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
  RunFilter filter;
  filter.kind = RunKind::measured;
  filter.plan_hash = plan_hash(planned.plan.steady);
  filter.limit = 1;
  SHARDLAB_TRY(const std::vector<RunEntry> runs, store.list(filter));
  MeasuredCandidate row{candidate, {}, "no run of this plan"};
  if (runs.empty()) return row;
  SHARDLAB_TRY(const RunSummary summary, store.load_summary(runs.front().id));
  row.run = to_string(runs.front().id);
  if (!summary.ended_by) row.step_time = summary.step_time.median;
  return row;
}

// One that fails stops none.
Result<MeasuredCandidate> run_one(const SearchReport& report, const Candidate& candidate, bool calibrate,
                                  RankTeam* team, RunStore& store, Console& console) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of(report, candidate));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
  const Result<Validation> validation = validate(planned, calibrate, team, store, console);
  MeasuredCandidate row{candidate, {}, {}};
  if (!validation) {
    if (validation.error().kind == ErrorKind::internal) return fail(validation.error());
    row.run = reason_text(validation.error());
    if (const auto diagnosis = console.take_diagnosis()) console.note(diagnosis_text(*diagnosis));
    return row;
  }
  row.run = to_string(*validation->measured.id);
  row.step_time = validation->measured.summary.step_time.median;
  return row;
}

Result<std::vector<MeasuredCandidate>> measured_rows(CommandContext& context, const SearchProof& proof,
                                                     const SearchReport& report,
                                                     const std::vector<Candidate>& best, RankTeam* team) {
  std::vector<MeasuredCandidate> rows;
  if (!proof.from.empty()) {
    SHARDLAB_TRY(const RunStore store, RunStore::open(proof.from, OpenMode::existing));
    for (const Candidate& each : best) {
      SHARDLAB_TRY(rows.emplace_back(), find_run(store, report, each));
    }
    return rows;
  }
  SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
  for (const Candidate& each : best) {
    SHARDLAB_TRY(rows.emplace_back(),
                 run_one(report, each, !proof.no_calibrate, team, store, context.console));
  }
  return rows;
}

Result<int> prove(CommandContext& context, const SearchProof& proof, const SearchReport& report,
                  RankTeam* team) {
  const Order order = {report.question.objective, {}};
  const std::vector<Candidate> best =
      best_of(order, report.result, static_cast<std::size_t>(std::max(1, proof.top)));
  if (best.empty()) {
    context.console.note("nothing satisfies: there is nothing to run");
    return k_exit_verdict_not_met;
  }
  if (!proof.write.empty()) {
    SHARDLAB_CHECK_OK(write_all(report, best, proof.write));
    context.console.note(fmt::format("wrote {} scenarios and run.sh to {}", best.size(), proof.write));
    return k_exit_good;
  }
  SHARDLAB_TRY(std::vector<MeasuredCandidate> rows, measured_rows(context, proof, report, best, team));
  const MeasuredRanking ranking = rank_measured(report.question, order, std::move(rows));
  if (context.console.json())
    context.console.print_json(measured_ranking_json(order, ranking));
  else
    context.console.print(measured_ranking_text(report.question, order, ranking, context.console.style()));
  return k_exit_good;
}

}  // namespace

Result<int> validate_search(CommandContext& context, const SearchProof& proof, RankTeam* team) {
  // A database that is not there is said before the search, which may take long.
  if (!proof.from.empty()) {
    SHARDLAB_TRY(const RunStore runs, RunStore::open(proof.from, OpenMode::existing));
  }
  SearchSettings settings = proof.search;
  settings.best = proof.top;
  return search_for(context, settings,
                    [&](const SearchReport& report) { return prove(context, proof, report, team); });
}

}  // namespace shardlab
