-- Makes a database as version 1 of the schema left it: one measured run of tests/hand_made_run.h. Never changed.
BEGIN;

CREATE TABLE plans (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  phase TEXT NOT NULL,            -- setup first steady
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
  fits INTEGER,
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

INSERT INTO plans VALUES (1, 'ad6a0ea80032a0e6f2014c4f6a6d4f08', 'setup', 'fsdp2', 2, 1, 'plan 1
phase setup
strategy fsdp2
graph 0123456789abcdef0123456789abcdef
world 2
micro_batches 1
group shard size 2
stream compute
stream all_gather
stream reduce_scatter
unit root elements 0 padded 0 module .
unit u0 elements 20 padded 20 module model.layers.0
segment s0 unit u0 operators 0..1 forward_peak 0 backward_peak 0
pass fsdp2
buffer shard.u0 parameter_shard float32 x 10 device on compute carried kept
buffer full.u0 gathered_parameters float32 x 20 device on compute
buffer gshard.u0 gradient_shard float32 x 10 device on compute
    0  all_gather      AllGather      unit u0 group shard bytes 1000 reads shard.u0 writes full.u0 allocates full.u0 pass fsdp2
    1  compute         Forward        unit u0 segment s0 mb 0 reads full.u0 waits 0 pass fsdp2
    2  compute         Backward       unit u0 segment s0 mb 0 reads full.u0 writes gshard.u0 allocates gshard.u0 frees full.u0 pass fsdp2
    3  reduce_scatter  ReduceScatter  unit u0 group shard reduce average bytes 2000 reads gshard.u0 writes gshard.u0 waits 2 pass fsdp2
    4  compute         HostWait       waits 3 pass fsdp2
    5  compute         OptimizerStep  reads gshard.u0,shard.u0 writes shard.u0 waits 3 pass fsdp2
    6  compute         ZeroGradients  frees gshard.u0 pass fsdp2
');
INSERT INTO plans VALUES (2, '9f8bc4fa409f89b5cdfc67a0f70d803a', 'first', 'fsdp2', 2, 1, 'plan 1
phase first
strategy fsdp2
graph 0123456789abcdef0123456789abcdef
world 2
micro_batches 1
group shard size 2
stream compute
stream all_gather
stream reduce_scatter
unit root elements 0 padded 0 module .
unit u0 elements 20 padded 20 module model.layers.0
segment s0 unit u0 operators 0..1 forward_peak 0 backward_peak 0
pass fsdp2
buffer shard.u0 parameter_shard float32 x 10 device on compute carried kept
buffer full.u0 gathered_parameters float32 x 20 device on compute
buffer gshard.u0 gradient_shard float32 x 10 device on compute
    0  all_gather      AllGather      unit u0 group shard bytes 1000 reads shard.u0 writes full.u0 allocates full.u0 pass fsdp2
    1  compute         Forward        unit u0 segment s0 mb 0 reads full.u0 waits 0 pass fsdp2
    2  compute         Backward       unit u0 segment s0 mb 0 reads full.u0 writes gshard.u0 allocates gshard.u0 frees full.u0 pass fsdp2
    3  reduce_scatter  ReduceScatter  unit u0 group shard reduce average bytes 2000 reads gshard.u0 writes gshard.u0 waits 2 pass fsdp2
    4  compute         HostWait       waits 3 pass fsdp2
    5  compute         OptimizerStep  reads gshard.u0,shard.u0 writes shard.u0 waits 3 pass fsdp2
    6  compute         ZeroGradients  frees gshard.u0 pass fsdp2
');
INSERT INTO plans VALUES (3, '3f2e6f3e8f9a3e70f7755fe15b2ba740', 'steady', 'fsdp2', 2, 1, 'plan 1
phase steady
strategy fsdp2
graph 0123456789abcdef0123456789abcdef
world 2
micro_batches 1
group shard size 2
stream compute
stream all_gather
stream reduce_scatter
unit root elements 0 padded 0 module .
unit u0 elements 20 padded 20 module model.layers.0
segment s0 unit u0 operators 0..1 forward_peak 0 backward_peak 0
pass fsdp2
buffer shard.u0 parameter_shard float32 x 10 device on compute carried kept
buffer full.u0 gathered_parameters float32 x 20 device on compute
buffer gshard.u0 gradient_shard float32 x 10 device on compute
    0  all_gather      AllGather      unit u0 group shard bytes 1000 reads shard.u0 writes full.u0 allocates full.u0 pass fsdp2
    1  compute         Forward        unit u0 segment s0 mb 0 reads full.u0 waits 0 pass fsdp2
    2  compute         Backward       unit u0 segment s0 mb 0 reads full.u0 writes gshard.u0 allocates gshard.u0 frees full.u0 pass fsdp2
    3  reduce_scatter  ReduceScatter  unit u0 group shard reduce average bytes 2000 reads gshard.u0 writes gshard.u0 waits 2 pass fsdp2
    4  compute         HostWait       waits 3 pass fsdp2
    5  compute         OptimizerStep  reads gshard.u0,shard.u0 writes shard.u0 waits 3 pass fsdp2
    6  compute         ZeroGradients  frees gshard.u0 pass fsdp2
');
INSERT INTO runs VALUES (1, 'measured', 'old-run', 1772373900, 'fsdp2', 2, 'feed', 1, 2, 3, 0, 510, 1000.0, NULL, 140, 200, NULL, 2.5, 'name: old-run', '{"machine": "m"}', '{"kind": "measured", "plan_hash": "3f2e6f3e8f9a3e70f7755fe15b2ba740"}');
INSERT INTO training VALUES (1, 0, 2.5, NULL);
INSERT INTO steps VALUES (1, 1, 3, 0, 0, 3, 0, 510, 2.5, NULL);
INSERT INTO spans VALUES (1, 0, 0, 0, 0, 100, 0);
INSERT INTO spans VALUES (1, 1, 10, 100, 100, 200, 0);
INSERT INTO spans VALUES (1, 2, 20, 20, 200, 400, 0);
INSERT INTO spans VALUES (1, 3, 30, 400, 400, 450, 0);
INSERT INTO spans VALUES (1, 4, 40, 450, 450, 450, 0);
INSERT INTO spans VALUES (1, 5, 460, 460, 460, 500, 0);
INSERT INTO spans VALUES (1, 6, 470, 470, 500, 510, 0);
INSERT INTO memory VALUES (1, 0, 120, 120, 0, 40, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
PRAGMA application_id = 1936223330;
PRAGMA user_version = 1;
COMMIT;
