// RunStore: the SQLite file in which predicted and measured runs lie side by side. The only code that writes
// it.
//
// Each save is one transaction: after a crash or a full disk the file has what it had before. The rollback
// journal is chosen over WAL because home folders of clusters lie on network file systems, where WAL does not
// work, and because a finished database is one file that can be copied. Another program's lock is waited for
// with patience, by default ten seconds.
//
// One RunStore belongs to one thread; several threads or programs each open their own. The schema, for
// questions in SQL, is in store/schema.h.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/store/lesson_record.h"
#include "engine/store/run_record.h"

namespace shardlab {

// $SHARDLAB_DB, else $XDG_DATA_HOME/shardlab/shardlab.db, else ~/.local/share/shardlab/shardlab.db.
Result<std::filesystem::path> default_database_path();

enum class OpenMode {
  create,    // the file and its folder are made when missing
  existing,  // a missing file is an error
};

class RunStore {
 public:
  static constexpr std::chrono::milliseconds k_patience{10'000};

  // Brings an older database up to date. Refuses, without touching the file, what is no database, another
  // program's database or one from a newer shardlab.
  static Result<RunStore> open(const std::filesystem::path& path, OpenMode mode,
                               std::chrono::milliseconds patience = k_patience);

  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  const std::filesystem::path& path() const;

  // Fails with bad_input when the trace does not fit the plans of the record.
  Result<RunId> save(const RunRecord& run);

  // Newest first. Reads one table, however many spans there are.
  Result<std::vector<RunEntry>> list(const RunFilter& filter = {}) const;
  // What a person writes: "r12", "12", "last", or a name (the newest run of that name).
  Result<RunId> find(std::string_view reference) const;
  Result<RunEntry> entry(RunId id) const;
  Result<std::string> load_scenario(RunId id) const;  // YAML
  Result<RunSummary> load_summary(RunId id) const;
  Result<RunPlan> load_plan(RunId id) const;
  Result<RunRecord> load(RunId id) const;  // everything

  // Parts of a trace, for a window that shows one step at a time. The headers come in the order of the steps.
  Result<std::vector<StepHeader>> steps(RunId id) const;
  Result<StepTrace> load_step(RunId id, std::int64_t step) const;

  Status add_tag(RunId id, std::string_view tag);
  Status remove_tag(RunId id, std::string_view tag);
  Status set_note(RunId id, std::string_view note);
  // What a validation found after the run was saved; whoever compares the run later leaves its times alone
  // too.
  Status set_times_not_judged(RunId id, std::string_view why);

  Result<std::int64_t> save_calibration(const CalibrationRecord& calibration);
  // The latest calibration of this machine; none when it was never calibrated.
  Result<std::optional<CalibrationRecord>> latest_calibration(std::string_view machine) const;
  // All, newest first.
  Result<std::vector<CalibrationRecord>> calibrations() const;

  Result<std::int64_t> save_comparison(RunId predicted, RunId measured, const Comparison& comparison);
  // The comparisons in which the run takes part, newest first.
  Result<std::vector<ComparisonEntry>> comparisons(RunId id) const;

  // `created` in seconds since 1970-01-01 UTC; 0: now.
  Result<std::int64_t> save_backtest(const Backtest& backtest, std::int64_t created = 0);
  // The newest of a metric; none when there is none.
  Result<std::optional<BacktestEntry>> latest_backtest(BacktestMetric metric) const;

  // Lessons. Reading a damaged table is bad_input; forget_lessons() mends it.
  Status save_lesson_answer(const LessonAnswer& answer);
  Status save_lesson_progress(const LessonProgress& progress);  // replaces that of the same lesson
  Result<std::vector<LessonAnswer>> lesson_answers() const;     // oldest first
  Result<std::vector<LessonProgress>> lesson_progress() const;
  Status forget_lessons();

 private:
  struct Connection;
  explicit RunStore(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace shardlab
