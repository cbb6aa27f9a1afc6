#include "engine/store/write_run.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/store/provenance_json.h"
#include "engine/store/run_columns.h"
#include "engine/store/write_plan.h"
#include "engine/store/write_trace.h"
#include "engine/trace/check_trace.h"
#include "engine/trace/run_summary_json.h"

namespace shardlab {
namespace {

Status check_step(const RunRecord& run, const PlanHashes& hashes, const StepTrace& step) {
  if (step.plan_hash == hashes.steady) return check_trace(run.plan.steady, hashes.steady, step);
  if (step.plan_hash == hashes.first) return check_trace(run.plan.first, hashes.first, step);
  if (run.plan.second && step.plan_hash == hashes.second)
    return check_trace(*run.plan.second, hashes.second, step);
  return check_trace(run.plan.setup, hashes.setup, step);
}

// Losses and norms have a table of their own, so the text stays short however long the run was.
std::string summary_text(RunSummary summary) {
  summary.losses.clear();
  summary.gradient_norms.clear();
  return summary_json(summary).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::int64_t write_run_row(SQLite::Database& db, const RunRecord& run, const PlanIds& plans,
                           const PlanHashes& hashes) {
  std::string figures;  // one parameter each
  for (int i = 0; i < run_column_count(); ++i) figures += ", ?";
  SQLite::Statement insert(
      db, fmt::format(
              "INSERT INTO runs (kind, name, created, strategy, ranks, run_hash, setup_plan, first_plan, "
              "steady_plan, second_plan, scenario, provenance, summary, note, machine, times_not_judged, {}) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?{})",
              run_columns(), figures));
  insert.bind(1, std::string(to_string(run.trace.provenance.kind)));
  insert.bind(2, run.name);
  insert.bind(3, created_or_now(run.created));
  insert.bind(4, run.plan.steady.strategy);
  insert.bind(5, run.plan.steady.world_size);
  insert.bind(6, run_hash(run.plan));
  insert.bind(7, plans.find(hashes.setup)->second);
  insert.bind(8, plans.find(hashes.first)->second);
  insert.bind(9, plans.find(hashes.steady)->second);
  if (run.plan.second) insert.bind(10, plans.find(hashes.second)->second);
  insert.bind(11, run.scenario_yaml);
  insert.bind(12, provenance_text(run.trace.provenance));
  insert.bind(13, summary_text(run.summary));
  insert.bind(14, run.note);
  insert.bind(15, run.machine);
  insert.bind(16, run.times_not_judged);
  bind_columns(insert, 17, run.summary);
  insert.exec();
  return db.getLastInsertRowid();
}

}  // namespace

PlanHashes hashes_of(const RunPlan& plan) {
  return {plan_hash(plan.setup), plan_hash(plan.first), plan.second ? plan_hash(*plan.second) : "",
          plan_hash(plan.steady)};
}

Status check_run_record(const RunRecord& run, const PlanHashes& hashes) {
  if (run.summary.plan_hash != hashes.steady) {
    return bad_input("run " + run.name, fmt::format("its summary is of plan {}, its steady step of plan {}",
                                                    run.summary.plan_hash, hashes.steady));
  }
  std::set<std::int64_t> seen;
  for (const auto* steps : {&run.trace.warmup, &run.trace.steps}) {
    for (const StepTrace& step : *steps) {
      if (!seen.insert(step.step).second) {
        return bad_input("run " + run.name, fmt::format("step {} is there twice", step.step));
      }
      SHARDLAB_CHECK_OK(check_step(run, hashes, step));
    }
  }
  return {};
}

std::int64_t write_run(SQLite::Database& db, const RunRecord& run, const PlanHashes& hashes) {
  PlanIds plans = {{hashes.setup, write_plan(db, run.plan.setup, hashes.setup)},
                   {hashes.first, write_plan(db, run.plan.first, hashes.first)},
                   {hashes.steady, write_plan(db, run.plan.steady, hashes.steady)}};
  if (run.plan.second) plans.emplace(hashes.second, write_plan(db, *run.plan.second, hashes.second));
  const std::int64_t id = write_run_row(db, run, plans, hashes);
  SQLite::Statement tag(db, "INSERT OR IGNORE INTO tags VALUES (?, ?)");
  for (const std::string& text : run.tags) {
    tag.bind(1, id);
    tag.bind(2, text);
    tag.exec();
    tag.reset();
  }
  write_trace(db, id, run.trace, plans);
  return id;
}

std::int64_t created_or_now(std::int64_t created) {
  return created != 0 ? created : static_cast<std::int64_t>(std::time(nullptr));
}

}  // namespace shardlab
