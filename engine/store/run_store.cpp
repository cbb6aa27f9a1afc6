#include "engine/store/run_store.h"

#include <fmt/format.h>

#include "engine/store/annotations.h"
#include "engine/store/backtest_rows.h"
#include "engine/store/database_connection.h"
#include "engine/store/database_file.h"
#include "engine/store/lesson_rows.h"
#include "engine/store/read_run.h"
#include "engine/store/read_trace.h"
#include "engine/store/write_run.h"

namespace shardlab {
namespace {

Status make_folder_of(const std::filesystem::path& path) {
  if (!path.has_parent_path()) return {};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return bad_input(in_file(path.parent_path().string()),
                     "the folder of the database cannot be made: " + error.message(),
                     "name another file with --db or SHARDLAB_DB");
  return {};
}

void configure(SQLite::Database& db) {
  db.exec("PRAGMA foreign_keys = ON");
  db.exec("PRAGMA cache_size = -65536");  // KiB: a run is written to the file at its commit, readers wait
                                          // only then
}

}  // namespace

RunStore::RunStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

const std::filesystem::path& RunStore::path() const {
  return connection_->path;
}

Result<RunStore> RunStore::open(const std::filesystem::path& path, OpenMode mode,
                                std::chrono::milliseconds patience) {
  SHARDLAB_TRY(const DatabaseFile file, inspect_database_file(path));
  if (mode == OpenMode::existing && file != DatabaseFile::ours) {
    return fail({ErrorKind::bad_input, in_file(path.string()), "there is no database yet",
                 "'shardlab simulate' or 'shardlab run' makes it", ErrorCode::no_database});
  }
  if (mode == OpenMode::create) SHARDLAB_CHECK_OK(make_folder_of(path));
  const int flags = SQLite::OPEN_READWRITE | (mode == OpenMode::create ? SQLite::OPEN_CREATE : 0);
  std::unique_ptr<Connection> connection;
  try {
    connection.reset(
        new Connection{path, SQLite::Database(path.string(), flags, static_cast<int>(patience.count()))});
  } catch (const SQLite::Exception& exception) {
    return fail(database_error(path, exception, nullptr));
  }
  SHARDLAB_CHECK_OK(connection->guarded([&]() -> Status {
    configure(connection->db);
    return migrate(connection->db, path);
  }));
  return RunStore(std::move(connection));
}

Result<RunId> RunStore::save(const RunRecord& run) {
  const PlanHashes hashes = hashes_of(run.plan);
  SHARDLAB_CHECK_OK(check_run_record(run, hashes));
  for (const std::string& tag : run.tags) SHARDLAB_CHECK_OK(check_tag(tag));
  return connection_->guarded([&]() -> Result<RunId> {
    WriteTransaction transaction(connection_->db);
    const RunId id{write_run(connection_->db, run, hashes)};
    transaction.commit();
    return id;
  });
}

Result<std::vector<RunEntry>> RunStore::list(const RunFilter& filter) const {
  return connection_->guarded(
      [&]() -> Result<std::vector<RunEntry>> { return read_entries(connection_->db, filter); });
}

Result<RunId> RunStore::find(std::string_view reference) const {
  return connection_->guarded([&] { return find_run(connection_->db, in_file(path().string()), reference); });
}

Result<RunEntry> RunStore::entry(RunId id) const {
  return connection_->guarded([&] { return read_entry(connection_->db, in_file(path().string()), id); });
}

Result<std::string> RunStore::load_scenario(RunId id) const {
  return connection_->guarded(
      [&] { return read_run_scenario(connection_->db, in_file(path().string()), id); });
}

Result<RunSummary> RunStore::load_summary(RunId id) const {
  return connection_->guarded(
      [&] { return read_run_summary(connection_->db, in_file(path().string()), id); });
}

Result<RunPlan> RunStore::load_plan(RunId id) const {
  return connection_->guarded([&] { return read_run_plan(connection_->db, in_file(path().string()), id); });
}

Result<RunRecord> RunStore::load(RunId id) const {
  return connection_->guarded([&] {
    const ReadTransaction transaction(connection_->db);
    return read_run(connection_->db, in_file(path().string()), id);
  });
}

Result<std::vector<StepHeader>> RunStore::steps(RunId id) const {
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded(
      [&]() -> Result<std::vector<StepHeader>> { return read_step_headers(connection_->db, id.value); });
}

Result<StepTrace> RunStore::load_step(RunId id, std::int64_t step) const {
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded([&]() -> Result<StepTrace> {
    const ReadTransaction transaction(connection_->db);
    StepTrace trace = read_step(connection_->db, id.value, step);
    if (trace.ranks.empty())
      return bad_input(in_file(path().string()),
                       fmt::format("run {} has no trace of step {}", to_string(id), step));
    return trace;
  });
}

Status RunStore::add_tag(RunId id, std::string_view tag) {
  SHARDLAB_CHECK_OK(check_tag(tag));
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded([&]() -> Status {
    SQLite::Statement insert(connection_->db, "INSERT OR IGNORE INTO tags VALUES (?, ?)");
    insert.bind(1, id.value);
    insert.bind(2, std::string(tag));
    insert.exec();
    return {};
  });
}

Status RunStore::remove_tag(RunId id, std::string_view tag) {
  return connection_->guarded([&]() -> Status {
    SQLite::Statement remove(connection_->db, "DELETE FROM tags WHERE run_id = ? AND tag = ?");
    remove.bind(1, id.value);
    remove.bind(2, std::string(tag));
    if (remove.exec() > 0) return {};
    return bad_input(in_file(path().string()), fmt::format("run {} has no tag '{}'", to_string(id), tag));
  });
}

Status RunStore::set_note(RunId id, std::string_view note) {
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded([&]() -> Status {
    SQLite::Statement update(connection_->db, "UPDATE runs SET note = ? WHERE id = ?");
    update.bind(1, std::string(note));
    update.bind(2, id.value);
    update.exec();
    return {};
  });
}

Status RunStore::set_times_not_judged(RunId id, std::string_view why) {
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded([&]() -> Status {
    SQLite::Statement update(connection_->db, "UPDATE runs SET times_not_judged = ? WHERE id = ?");
    update.bind(1, std::string(why));
    update.bind(2, id.value);
    update.exec();
    return {};
  });
}

Result<std::int64_t> RunStore::save_calibration(const CalibrationRecord& calibration) {
  return connection_->guarded([&]() -> Result<std::int64_t> {
    WriteTransaction transaction(connection_->db);
    const std::int64_t id = write_calibration(connection_->db, calibration);
    transaction.commit();
    return id;
  });
}

Result<std::optional<CalibrationRecord>> RunStore::latest_calibration(std::string_view machine) const {
  return connection_->guarded([&]() -> Result<std::optional<CalibrationRecord>> {
    std::vector<CalibrationRecord> found = read_calibrations(connection_->db, machine, 1);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  });
}

Result<std::vector<CalibrationRecord>> RunStore::calibrations() const {
  return connection_->guarded([&]() -> Result<std::vector<CalibrationRecord>> {
    return read_calibrations(connection_->db, std::nullopt, 0);
  });
}

Result<std::int64_t> RunStore::save_comparison(RunId predicted, RunId measured,
                                               const Comparison& comparison) {
  SHARDLAB_CHECK_OK(entry(predicted));
  SHARDLAB_CHECK_OK(entry(measured));
  return connection_->guarded([&]() -> Result<std::int64_t> {
    WriteTransaction transaction(connection_->db);
    const std::int64_t id = write_comparison(connection_->db, predicted, measured, comparison);
    transaction.commit();
    return id;
  });
}

Result<std::vector<ComparisonEntry>> RunStore::comparisons(RunId id) const {
  SHARDLAB_CHECK_OK(entry(id));
  return connection_->guarded(
      [&]() -> Result<std::vector<ComparisonEntry>> { return read_comparisons(connection_->db, id); });
}

Result<std::int64_t> RunStore::save_backtest(const Backtest& backtest, std::int64_t created) {
  return connection_->guarded([&]() -> Result<std::int64_t> {
    WriteTransaction transaction(connection_->db);
    const std::int64_t id = write_backtest(connection_->db, backtest, created);
    transaction.commit();
    return id;
  });
}

Result<std::optional<BacktestEntry>> RunStore::latest_backtest(BacktestMetric metric) const {
  return connection_->guarded([&] {
    const ReadTransaction transaction(connection_->db);
    return read_latest_backtest(connection_->db, metric);
  });
}

Status RunStore::save_lesson_answer(const LessonAnswer& answer) {
  return connection_->guarded([&]() -> Status {
    write_lesson_answer(connection_->db, answer);
    return {};
  });
}

Status RunStore::save_lesson_progress(const LessonProgress& progress) {
  return connection_->guarded([&]() -> Status {
    write_lesson_progress(connection_->db, progress);
    return {};
  });
}

Result<std::vector<LessonAnswer>> RunStore::lesson_answers() const {
  return connection_->guarded([&] { return read_lesson_answers(connection_->db, in_file(path().string())); });
}

Result<std::vector<LessonProgress>> RunStore::lesson_progress() const {
  return connection_->guarded(
      [&] { return read_lesson_progress(connection_->db, in_file(path().string())); });
}

Status RunStore::forget_lessons() {
  return connection_->guarded([&]() -> Status {
    WriteTransaction transaction(connection_->db);
    make_lesson_tables_anew(connection_->db);
    transaction.commit();
    return {};
  });
}

}  // namespace shardlab
