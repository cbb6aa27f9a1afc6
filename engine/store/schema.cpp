#include "engine/store/schema.h"

#include <array>

#include "engine/store/lesson_tables.h"

namespace shardlab {
namespace {

constexpr std::string_view k_runs_and_traces = R"sql(
CREATE TABLE plans (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  phase TEXT NOT NULL,            -- setup first second steady
  strategy TEXT NOT NULL,
  world_size INTEGER NOT NULL,
  micro_batches INTEGER NOT NULL,
  text TEXT NOT NULL              -- docs/plan-format.md
);

CREATE TABLE instructions (
  plan_id INTEGER NOT NULL REFERENCES plans ON DELETE CASCADE,
  id INTEGER NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL,
  stream TEXT NOT NULL,
  unit TEXT,
  segment TEXT,
  micro_batch INTEGER,
  "group" TEXT,                   -- collectives
  group_size INTEGER,
  bytes INTEGER NOT NULL,         -- collectives: the full side
  PRIMARY KEY (plan_id, id)
) WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('predicted', 'measured')),
  name TEXT NOT NULL,
  created INTEGER NOT NULL,       -- seconds since 1970-01-01 UTC
  strategy TEXT NOT NULL,
  ranks INTEGER NOT NULL,
  run_hash TEXT NOT NULL,
  setup_plan INTEGER NOT NULL REFERENCES plans,
  first_plan INTEGER NOT NULL REFERENCES plans,
  steady_plan INTEGER NOT NULL REFERENCES plans,
  calibrated INTEGER NOT NULL,
  step_time_ns INTEGER NOT NULL,  -- median
  tokens_per_second REAL NOT NULL,
  mfu REAL,
  exposed_communication_ns INTEGER NOT NULL,
  peak_allocated INTEGER,
  fits INTEGER,                   -- 0 or 1; since version 4 yes, unsure (tight before version 7) or no
  last_loss REAL,
  scenario TEXT NOT NULL,         -- YAML
  provenance TEXT NOT NULL,       -- JSON
  summary TEXT NOT NULL           -- JSON, docs/json.md; losses and norms are in `training`
);

CREATE TABLE training (           -- every step from the first
  run_id INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  step INTEGER NOT NULL,
  loss REAL,
  gradient_norm REAL,
  PRIMARY KEY (run_id, step)
) WITHOUT ROWID;

CREATE TABLE steps (              -- one step of one rank
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  warmup INTEGER NOT NULL,
  plan_id INTEGER NOT NULL REFERENCES plans,
  start_offset_ns INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  loss REAL,
  gradient_norm REAL,
  UNIQUE (run_id, step, rank)
);

CREATE TABLE spans (              -- nanoseconds since the start of the step on that rank
  step_id INTEGER NOT NULL REFERENCES steps ON DELETE CASCADE,
  instruction INTEGER NOT NULL,
  issue_ns INTEGER NOT NULL,
  ready_ns INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  PRIMARY KEY (step_id, instruction)
) WITHOUT ROWID;

CREATE TABLE memory (             -- bytes: live_* after the instruction, peak_* at the highest moment while it ran
  step_id INTEGER NOT NULL REFERENCES steps ON DELETE CASCADE,
  instruction INTEGER NOT NULL,
  live INTEGER NOT NULL,
  peak INTEGER NOT NULL,
  live_parameter INTEGER NOT NULL, live_parameter_shard INTEGER NOT NULL, live_gathered_parameters INTEGER NOT NULL,
  live_gather_buffer INTEGER NOT NULL, live_gradient INTEGER NOT NULL, live_gradient_shard INTEGER NOT NULL,
  live_reduce_buffer INTEGER NOT NULL, live_optimizer_state INTEGER NOT NULL, live_activation INTEGER NOT NULL,
  live_activation_gradient INTEGER NOT NULL, live_batch INTEGER NOT NULL, live_constant INTEGER NOT NULL,
  live_scalar INTEGER NOT NULL, live_workspace INTEGER NOT NULL,
  peak_parameter INTEGER NOT NULL, peak_parameter_shard INTEGER NOT NULL, peak_gathered_parameters INTEGER NOT NULL,
  peak_gather_buffer INTEGER NOT NULL, peak_gradient INTEGER NOT NULL, peak_gradient_shard INTEGER NOT NULL,
  peak_reduce_buffer INTEGER NOT NULL, peak_optimizer_state INTEGER NOT NULL, peak_activation INTEGER NOT NULL,
  peak_activation_gradient INTEGER NOT NULL, peak_batch INTEGER NOT NULL, peak_constant INTEGER NOT NULL,
  peak_scalar INTEGER NOT NULL, peak_workspace INTEGER NOT NULL,
  PRIMARY KEY (step_id, instruction)
) WITHOUT ROWID;

-- Spans with what a question needs: SELECT label, avg(duration_ns) FROM run_spans WHERE run_id = 12 GROUP BY instruction;
CREATE VIEW run_spans AS
  SELECT steps.run_id, steps.step, steps.rank, steps.warmup, spans.instruction, instructions.label, instructions.kind,
         instructions.stream, instructions.unit, instructions.micro_batch, instructions.bytes, spans.issue_ns, spans.ready_ns,
         spans.start_ns, spans.end_ns, spans.end_ns - spans.start_ns AS duration_ns
  FROM steps JOIN spans ON spans.step_id = steps.id
             JOIN instructions ON instructions.plan_id = steps.plan_id AND instructions.id = spans.instruction;
)sql";

constexpr std::string_view k_notes_calibrations_comparisons = R"sql(
ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';

CREATE TABLE tags (
  run_id INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) WITHOUT ROWID;

CREATE TABLE calibrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created INTEGER NOT NULL,
  key TEXT NOT NULL,              -- what a run's provenance names
  machine TEXT NOT NULL,
  text TEXT NOT NULL
);

CREATE TABLE comparisons (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created INTEGER NOT NULL,
  predicted_run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  measured_run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  verdict TEXT NOT NULL           -- pass, fail, not judged
);

CREATE TABLE comparison_metrics (
  comparison_id INTEGER NOT NULL REFERENCES comparisons ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  predicted REAL,
  measured REAL,
  error REAL,                     -- predicted / measured - 1
  tolerance REAL,
  verdict TEXT NOT NULL,
  PRIMARY KEY (comparison_id, position)
) WITHOUT ROWID;
)sql";

// Where the second step is not yet like the later ones; null where it is.
constexpr std::string_view k_second_steps = R"sql(
ALTER TABLE runs ADD COLUMN second_plan INTEGER REFERENCES plans;
)sql";

// Between fitting and not fitting there is a third word.
constexpr std::string_view k_fit_in_words = R"sql(
UPDATE runs SET fits = CASE fits WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END;
)sql";

// Rows of large steps and plans take a hundred times what they say. Where `packed` is not null the step has
// no rows in spans and memory; where `text` is a blob the plan has none in instructions
// (engine/store/packed.h).
constexpr std::string_view k_packed_steps = R"sql(
ALTER TABLE steps ADD COLUMN packed BLOB;
)sql";

// On what a run is or was, and with whose operators: without them two lines of a list look alike.
constexpr std::string_view k_machines = R"sql(
ALTER TABLE runs ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN implementation TEXT;
UPDATE runs SET implementation = json_extract(summary, '$.implementation') WHERE json_valid(summary);
)sql";

// What predictions said of published runs: rows with their errors, from which bands can be made.
constexpr std::string_view k_backtests = R"sql(
CREATE TABLE backtests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created INTEGER NOT NULL,       -- seconds since 1970-01-01 UTC
  metric TEXT NOT NULL,           -- memory, time
  table_file TEXT NOT NULL,
  settings TEXT NOT NULL,         -- JSON, a list of key=value
  has_bands INTEGER NOT NULL,
  within_bands REAL
);

CREATE TABLE backtest_rows (
  backtest_id INTEGER NOT NULL REFERENCES backtests ON DELETE CASCADE,
  position INTEGER NOT NULL,
  row TEXT NOT NULL,              -- its id in the table
  source TEXT NOT NULL,
  series TEXT NOT NULL,           -- rows that are not independent of each other
  figure TEXT NOT NULL,
  published REAL,                 -- bytes or tokens/s
  predicted REAL,
  low REAL,
  high REAL,
  error REAL,                     -- predicted / published - 1
  expressible INTEGER NOT NULL,
  reason TEXT NOT NULL,
  ran_out_of_memory INTEGER NOT NULL,
  fits TEXT,                      -- yes, unsure, no
  details TEXT NOT NULL,          -- JSON: nearest, rules, groups
  PRIMARY KEY (backtest_id, position)
) WITHOUT ROWID;

UPDATE runs SET fits = 'unsure' WHERE fits = 'tight';
)sql";

// How wide the bands of a backtest were meant to be.
constexpr std::string_view k_band_parts = R"sql(
ALTER TABLE backtests ADD COLUMN band_part REAL NOT NULL DEFAULT 0.8;
)sql";

// Why the times of a run are no measurement; of older runs what their comparison says of it.
constexpr std::string_view k_times_not_judged = R"sql(
ALTER TABLE runs ADD COLUMN times_not_judged TEXT NOT NULL DEFAULT '';
UPDATE runs SET times_not_judged = 'its validation found that the machine changed meanwhile'
  WHERE id IN (SELECT measured_run FROM comparisons JOIN comparison_metrics ON comparison_id = comparisons.id
               WHERE tolerance IS NOT NULL AND comparison_metrics.verdict = 'not judged');
)sql";

// What lies elsewhere than on the device, where something does; older runs have lost it.
constexpr std::string_view k_memory_elsewhere = R"sql(
CREATE TABLE memory_elsewhere (   -- bytes: live after the instruction, peak the highest while it ran
  step_id INTEGER NOT NULL REFERENCES steps ON DELETE CASCADE,
  instruction INTEGER NOT NULL,
  space TEXT NOT NULL,            -- pinned_host, pageable_host, disk, managed
  live INTEGER NOT NULL,
  peak INTEGER NOT NULL,
  PRIMARY KEY (step_id, instruction, space)
) WITHOUT ROWID;
)sql";

constexpr std::array k_migrations = {
    Migration{1, k_runs_and_traces},  Migration{2, k_notes_calibrations_comparisons},
    Migration{3, k_second_steps},     Migration{4, k_fit_in_words},
    Migration{5, k_packed_steps},     Migration{6, k_machines},
    Migration{7, k_backtests},        Migration{8, k_band_parts},
    Migration{9, k_lesson_tables},    Migration{10, k_times_not_judged},
    Migration{11, k_memory_elsewhere}};

}  // namespace

std::span<const Migration> migrations() {
  return k_migrations;
}

int schema_version() {
  return k_migrations.back().version;
}

}  // namespace shardlab
