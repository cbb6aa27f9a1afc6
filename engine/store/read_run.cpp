#include "engine/store/read_run.h"

#include <fmt/format.h>

#include "engine/plan/text.h"
#include "engine/store/packed.h"
#include "engine/store/provenance_json.h"
#include "engine/store/read_trace.h"
#include "engine/store/run_columns.h"
#include "engine/store/write_run.h"
#include "engine/trace/run_summary_json.h"

namespace shardlab {
namespace {

tl::unexpected<Error> no_such_run(const Place& database, std::string_view reference) {
  return bad_input(database, fmt::format("there is no run {}", reference),
                   "'shardlab history' lists the runs");
}

RunKind kind_of(const SQLite::Column& column) {
  return parse_word<RunKind>(column.getString()).value_or(RunKind::predicted);
}

// {}: the columns of figures.
constexpr const char* k_entries =
    "SELECT runs.id, kind, name, created, runs.strategy, ranks, plans.hash, run_hash, note, machine, "
    "times_not_judged, "
    "(SELECT group_concat(tag, char(31)) FROM (SELECT tag FROM tags WHERE run_id = runs.id ORDER BY tag)), "
    "{} "
    "FROM runs JOIN plans ON plans.id = steady_plan "
    "WHERE (?1 = 0 OR runs.id = ?1) AND (?2 = '' OR kind = ?2) AND (?3 = '' OR name = ?3) "
    "AND (?4 = '' OR EXISTS (SELECT 1 FROM tags WHERE run_id = runs.id AND tag = ?4)) "
    "AND (?5 = '' OR substr(plans.hash, 1, length(?5)) = ?5) ORDER BY runs.id DESC LIMIT ?6";

// Joined with the unit separator, which no tag holds (add_tag).
std::vector<std::string> split_tags(const std::string& joined) {
  std::vector<std::string> tags;
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = std::min(joined.find('\x1f', begin), joined.size());
    tags.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return tags;
}

RunEntry entry_of(SQLite::Statement& row) {
  RunEntry entry;
  entry.id = {row.getColumn(0).getInt64()};
  entry.kind = kind_of(row.getColumn(1));
  entry.name = row.getColumn(2).getString();
  entry.created = row.getColumn(3).getInt64();
  entry.strategy = row.getColumn(4).getString();
  entry.ranks = row.getColumn(5).getInt();
  entry.plan_hash = row.getColumn(6).getString();
  entry.run_hash = row.getColumn(7).getString();
  entry.note = row.getColumn(8).getString();
  entry.machine = row.getColumn(9).getString();
  entry.times_not_judged = row.getColumn(10).getString();
  entry.tags = split_tags(row.getColumn(11).getString());
  read_columns(row, 12, entry);
  return entry;
}

std::vector<RunEntry> query_entries(SQLite::Database& db, const RunFilter& filter, std::int64_t id) {
  SQLite::Statement query(db, fmt::format(k_entries, run_columns()));
  query.bind(1, id);
  query.bind(2, filter.kind ? std::string(to_string(*filter.kind)) : std::string());
  query.bind(3, filter.name);
  query.bind(4, filter.tag);
  query.bind(5, filter.plan_hash);
  query.bind(6, filter.limit > 0 ? filter.limit : -1);
  std::vector<RunEntry> entries;
  while (query.executeStep()) entries.push_back(entry_of(query));
  return entries;
}

Result<StepPlan> read_plan(SQLite::Database& db, std::int64_t plan_id) {
  SQLite::Statement query(db, "SELECT text, hash FROM plans WHERE id = ?");
  query.bind(1, plan_id);
  if (!query.executeStep())
    return bad_input("database", fmt::format("plan {} is missing", plan_id),
                     "the file is damaged: put back a copy, or begin a new file with --db");
  const SQLite::Column stored = query.getColumn(0);
  const std::string text = stored.isBlob() ? unpack_text(stored.getString()) : stored.getString();
  return parse_plan(text, "stored plan " + query.getColumn(1).getString());
}

// As they were when the run was stored: the text form may have grown since.
PlanHashes read_hashes(SQLite::Database& db, RunId id) {
  const auto hash_of = [&](const char* column) {
    SQLite::Statement query(
        db, fmt::format("SELECT hash FROM runs JOIN plans ON plans.id = {} WHERE runs.id = ?", column));
    query.bind(1, id.value);
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
  };
  return {hash_of("setup_plan"), hash_of("first_plan"), hash_of("second_plan"), hash_of("steady_plan")};
}

}  // namespace

std::vector<RunEntry> read_entries(SQLite::Database& db, const RunFilter& filter) {
  return query_entries(db, filter, 0);
}

Result<RunEntry> read_entry(SQLite::Database& db, const Place& database, RunId id) {
  std::vector<RunEntry> entries;
  if (id.value > 0) entries = query_entries(db, {}, id.value);
  if (entries.empty()) return no_such_run(database, to_string(id));
  return std::move(entries.front());
}

Result<RunId> find_run(SQLite::Database& db, const Place& database, std::string_view reference) {
  if (const Result<RunId> id = parse_run_id(reference)) {
    SHARDLAB_CHECK_OK(read_entry(db, database, *id));
    return *id;
  }
  SQLite::Statement query(db, "SELECT id FROM runs WHERE ?1 = 'last' OR name = ?1 ORDER BY id DESC LIMIT 1");
  query.bind(1, std::string(reference));
  if (query.executeStep()) return RunId{query.getColumn(0).getInt64()};
  if (reference == "last")
    return bad_input(database, "no run was stored yet", "'shardlab simulate' or 'shardlab run' stores one");
  return no_such_run(database, fmt::format("'{}'", reference));
}

Result<std::string> read_run_scenario(SQLite::Database& db, const Place& database, RunId id) {
  SQLite::Statement query(db, "SELECT scenario FROM runs WHERE id = ?");
  query.bind(1, id.value);
  if (!query.executeStep()) return no_such_run(database, to_string(id));
  return query.getColumn(0).getString();
}

Result<RunSummary> read_run_summary(SQLite::Database& db, const Place& database, RunId id) {
  SQLite::Statement query(db, "SELECT summary FROM runs WHERE id = ?");
  query.bind(1, id.value);
  if (!query.executeStep()) return no_such_run(database, to_string(id));
  SHARDLAB_TRY(RunSummary summary, parse_summary_json(query.getColumn(0).getString()));
  read_training(db, id.value, summary.losses, summary.gradient_norms);
  return summary;
}

Result<RunPlan> read_run_plan(SQLite::Database& db, const Place& database, RunId id) {
  SQLite::Statement query(db,
                          "SELECT setup_plan, first_plan, steady_plan, second_plan FROM runs WHERE id = ?");
  query.bind(1, id.value);
  if (!query.executeStep()) return no_such_run(database, to_string(id));
  SHARDLAB_TRY(StepPlan setup, read_plan(db, query.getColumn(0).getInt64()));
  SHARDLAB_TRY(StepPlan first, read_plan(db, query.getColumn(1).getInt64()));
  SHARDLAB_TRY(StepPlan steady, read_plan(db, query.getColumn(2).getInt64()));
  RunPlan plan{std::move(setup), std::move(first), std::nullopt, std::move(steady)};
  if (!query.getColumn(3).isNull()) {
    SHARDLAB_TRY(plan.second, read_plan(db, query.getColumn(3).getInt64()));
  }
  return plan;
}

Result<RunRecord> read_run(SQLite::Database& db, const Place& database, RunId id) {
  SHARDLAB_TRY(const RunEntry entry, read_entry(db, database, id));
  SQLite::Statement query(db, "SELECT scenario, provenance FROM runs WHERE id = ?");
  query.bind(1, id.value);
  if (!query.executeStep()) return no_such_run(database, to_string(id));
  RunRecord run;
  run.name = entry.name;
  run.created = entry.created;
  run.tags = entry.tags;
  run.note = entry.note;
  run.machine = entry.machine;
  run.times_not_judged = entry.times_not_judged;
  run.scenario_yaml = query.getColumn(0).getString();
  SHARDLAB_TRY(run.plan, read_run_plan(db, database, id));
  run.trace = read_steps(db, id.value);
  SHARDLAB_TRY(run.trace.provenance, parse_provenance(query.getColumn(1).getString(), entry.kind));
  SHARDLAB_TRY(run.summary, read_run_summary(db, database, id));
  // A file that was damaged or written by hand may say anything; whoever reads a run relies on its ids.
  if (const Status whole = check_run_record(run, read_hashes(db, id)); !whole)
    return bad_input(database, fmt::format("the database is damaged: {}", message_text(whole.error())),
                     "put back a copy, or begin a new file with --db");
  return run;
}

}  // namespace shardlab
