// Every instruction of every strategy's plans is explained: a reason, known settings, why it waits.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/cli/explain_instruction.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/explain/explanation.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_scenario = R"(
model: { config: tiny-llama, sequence_length: 32, overrides: { num_hidden_layers: 3 } }
cluster: { device: cpu, ranks: 4 }
parallel:
  strategy: fsdp2
train: { clip_norm: 1 }
)";

struct Planned {
  ReadScenario read;
  PlannedScenario planned;
};

Planned plan(const std::vector<std::string>& sets) {
  auto read = parse_scenario_with_source(k_scenario, "a.yaml", sets);
  if (!read) FAIL(to_string(read.error()));
  auto planned = plan_scenario(read->scenario);
  if (!planned) FAIL(to_string(planned.error()));
  return {*std::move(read), *std::move(planned)};
}

std::string text_of(const Planned& p, const StepPlan& step, std::size_t index) {
  return explain_instruction({p.planned, p.read.source, step, make_id<InstructionId>(index)});
}

// A teacher's parallel and precision have the keys of the student's, which are described once.
std::string documented(const std::string& key) {
  constexpr std::string_view k_teacher = "distillation.teacher.";
  const std::string own = key.starts_with(k_teacher) ? key.substr(k_teacher.size()) : key;
  return own.starts_with("parallel.") || own.starts_with("precision.") ? own : key;
}

std::string teacher(const std::string& settings) {
  return "distillation={teacher: {config: tiny-llama, overrides: {num_hidden_layers: 2}, " + settings + "}}";
}

// The first instruction of the kind and unit at or after `from`.
std::size_t find(const StepPlan& step, InstructionKind kind, std::string_view unit, std::size_t from = 0) {
  for (std::size_t i = from; i < step.instructions.size(); ++i) {
    const Instruction& instruction = step.instructions[i];
    if (instruction.kind == kind && instruction.unit && step.units[instruction.unit->index()].name == unit)
      return i;
  }
  FAIL("no such instruction");
  return 0;
}

}  // namespace

TEST_CASE("explain: every instruction has a reason, known settings and reasons to wait") {
  const std::string reference = scenario_reference();
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"precision={param: bfloat16}"},
      {"precision={param: bfloat16, reduce: float32}", "train.accumulation=3"},
      {"train.accumulation=3", "train.sync=every", "precision={param: bfloat16, reduce: float32}"},
      {"train.accumulation=2", "parallel.reshard_after_forward=false"},
      {"parallel.wrap={policy: size, min_params: 100k}"},
      {"train.clip_norm=none", "train.optimizer=sgd", "train.clip_value=1"},
      {"parallel.mesh.replicate=2", "precision={param: bfloat16, reduce: float32}"},
      {"parallel.mesh.replicate=2", "parallel.requires_all_reduce=false",
       "train={accumulation: 3, sync: every}", "precision.param=bfloat16"},
      {"parallel.reshard_after_forward=2", "precision={param: bfloat16, reduce: float32}"},
      {"parallel.prefetch={forward_depth: 2, backward_depth: 2}"},
      {"parallel.reshard_after_backward=false", "train.accumulation=3"},
      {"precision.param=float16"},
      {"parallel={strategy: fsdp1}"},
      {"parallel={strategy: fsdp1, prefetch: {forward: true, limit_all_gathers: false}}",
       "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: fsdp1, sharding: shard_grad_op, use_orig_params: false}", "train.accumulation=3",
       "precision.param=bfloat16", "model.overrides.intermediate_size=351"},
      {"parallel={strategy: fsdp1, sharding: hybrid_shard, mesh: {replicate: 2}}",
       "train={accumulation: 3, sync: every}", "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: fsdp1, sharding: no_shard}", "train={accumulation: 2, sync: every}",
       "precision={param: bfloat16}"},
      {"parallel={strategy: fsdp1, sharding: no_shard}", "train.accumulation=2",
       "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: fsdp1, prefetch: {backward: none}}", "train.accumulation=3",
       "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: native}"},
      {"parallel={strategy: native, reshard_after_forward: false}", "train.accumulation=2"},
      {"parallel={strategy: native, mesh: {replicate: 2}}", "train={accumulation: 3, sync: every}",
       "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: native}", "train.accumulation=3", "precision={param: bfloat16, reduce: float32}"},
      {"parallel={strategy: ddp, ddp: {bucket_size: 512KiB, first_bucket_size: 64KiB}}"},
      {"parallel={strategy: ddp}", "train.accumulation=2"},
      {"parallel={strategy: ddp, ddp: {gradient_as_bucket_view: true}}"},
      {"parallel={strategy: ddp, ddp: {gradient_as_bucket_view: true}}", "train.accumulation=3",
       "train.sync=every"},
      {"parallel={strategy: none}", "cluster.ranks=1"},
      {"parallel={strategy: zero3, zero: {zero_quantized_weights: true, stage3_prefetch_bucket_size: 300000, "
       "stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0}}",
       "cluster={gpu: H100-SXM, gpus_per_node: 4}", "precision.param=bfloat16"},
      {"parallel={strategy: zero3, zero: {zero_quantized_gradients: true}}",
       "cluster={gpu: H100-SXM, gpus_per_node: 2, nodes: 2}", "precision.param=bfloat16",
       "train.accumulation=2"},
      {teacher("parallel: {strategy: none}")},
      {teacher("parallel: {strategy: fsdp2}, precision: {param: bfloat16}"), "train.accumulation=2"},
      {teacher("parallel: {strategy: fsdp2, reshard_after_forward: 2}"), "parallel={strategy: ddp}",
       "train.accumulation=2"},
      {teacher("parallel: {strategy: fsdp1, mesh: {replicate: 2}, sharding: hybrid_shard}, precision: "
               "{param: bfloat16}"),
       "train.accumulation=2"},
      {teacher("parallel: {strategy: fsdp1, sharding: no_shard}, precision: {param: bfloat16}"),
       "parallel={strategy: fsdp1}"},
      {teacher("parallel: {strategy: native, reshard_after_forward: true}"), "train.accumulation=2"},
  };
  std::set<InstructionKind> seen;
  for (const auto& sets : cases) {
    const Planned p = plan(sets);
    const RunPlan& run = p.planned.plan;
    for (const StepPlan* step :
         {&run.setup, &run.first, run.second ? &*run.second : &run.first, &run.steady}) {
      for (std::size_t i = 0; i < step->instructions.size(); ++i) {
        const Explanation explanation = explain(p.planned, p.read.source, *step, make_id<InstructionId>(i));
        INFO(fmt::format("{} {}: {}", step->strategy, to_string(step->phase),
                         instruction_label(*step, make_id<InstructionId>(i))));
        seen.insert(step->instructions[i].kind);
        REQUIRE_FALSE(explanation.purpose.empty());
        REQUIRE_FALSE(explanation.reason.empty());
        REQUIRE_FALSE(explanation.pass_does.empty());
        for (const SettingView& setting : explanation.decided_by)
          REQUIRE(reference.find("`" + documented(setting.key) + "`") != std::string::npos);
        for (const ExplainedWait& wait : explanation.waits) REQUIRE_FALSE(wait.why.empty());
      }
    }
  }
  CHECK(seen.size() >= 18);
}

TEST_CASE("explain: a gather in backward names the free in forward, the setting and its place") {
  const Planned p = plan({"parallel.reshard_after_forward=true"});
  const StepPlan& step = p.planned.plan.steady;
  const std::size_t freed =
      find(step, InstructionKind::Free, "u1", find(step, InstructionKind::Forward, "u1"));
  const std::size_t gather = find(step, InstructionKind::AllGather, "u1", freed);
  const std::string text = text_of(p, step, gather);
  CHECK_THAT(text, test::contains_text("why          u1 (model.layers.1) is spread over 4 ranks;"));
  CHECK_THAT(text, test::contains_text(fmt::format("went in {} Free u1 full.u1", freed)));
  CHECK_THAT(text, test::contains_text(
                       "parallel.reshard_after_forward: true (--set parallel.reshard_after_forward=true)"));
  CHECK_THAT(text, test::contains_text("It is issued ahead of time, before"));
  CHECK_THAT(text_of(p, step, freed),
             test::contains_text(fmt::format("gathers it again, in {} AllGather u1", gather)));
}

TEST_CASE("explain: a teacher's instructions name its own settings") {
  const Planned p = plan({teacher("parallel: {strategy: fsdp2}"), "train.accumulation=2"});
  const StepPlan& step = p.planned.plan.steady;
  const std::string gather = text_of(p, step, find(step, InstructionKind::AllGather, "teacher.u0"));
  CHECK_THAT(gather,
             test::contains_text("distillation.teacher.parallel.strategy: fsdp2 (--set distillation="));
  CHECK_THAT(gather,
             test::contains_text(
                 "put there by teacher.fsdp2: the schedule of torch 2.11's fully_shard, for the teacher"));
  const std::string freed = text_of(p, step, find(step, InstructionKind::Free, "teacher.u0"));
  CHECK_THAT(freed, test::contains_text("The next micro-batch gathers it again, in "));
  CHECK_THAT(freed,
             test::contains_text("distillation.teacher.parallel.reshard_after_forward: default (default)"));
  CHECK_THAT(text_of(p, step, find(step, InstructionKind::Forward, "teacher.u0")),
             test::contains_text("The teacher runs without a graph"));
}

TEST_CASE("explain: settings show their value and whether they were given") {
  const Planned p = plan({"precision.param=bfloat16"});
  const StepPlan& step = p.planned.plan.steady;
  const std::string cast = text_of(p, step, find(step, InstructionKind::Cast, "u0"));
  CHECK_THAT(cast, test::contains_text("u0 (model.layers.0) is kept in float32 and computes in bfloat16"));
  CHECK_THAT(cast, test::contains_text("precision.param: bfloat16 (--set precision.param=bfloat16)"));
  CHECK_THAT(cast, test::contains_text("model.dtype: float32 (default)"));
  const std::string gather = text_of(p, step, find(step, InstructionKind::AllGather, "u0"));
  CHECK_THAT(gather, test::contains_text("parallel.strategy: fsdp2 (a.yaml:5:13)"));
}

TEST_CASE("explain: waits follow from buffers") {
  const Planned p = plan({});
  const StepPlan& step = p.planned.plan.steady;
  const std::size_t gather = find(step, InstructionKind::AllGather, "u0");
  CHECK_THAT(text_of(p, step, gather), test::contains_text("it writes gathered.u0, which this reads"));
  const std::size_t unpack = find(step, InstructionKind::Unpack, "u0");
  CHECK_THAT(text_of(p, step, unpack),
             test::contains_text(fmt::format("waits for    {} AllGather u0", gather)));
  const std::size_t dropped =
      find(step, InstructionKind::Free, "u0", find(step, InstructionKind::Unpack, "u1"));
  CHECK_THAT(text_of(p, step, dropped), test::contains_text("it reads gathered.u0, which this gives back"));
  // The first gather of a step waits for compute: the optimizer wrote the shards in the step before.
  CHECK_THAT(text_of(p, step, find(step, InstructionKind::Copy, "root")),
             test::contains_text("work of the step before included"));
  // Gathers and reductions share one group.
  const std::size_t second =
      find(step, InstructionKind::AllGather, "u0", find(step, InstructionKind::Backward, "u2"));
  CHECK_THAT(text_of(p, step, second),
             test::contains_text("collectives of one group run one after the other"));
}

TEST_CASE("explain: FSDP1's host waits name the limiter and what the step before left") {
  const Planned p = plan({"parallel={strategy: fsdp1}"});
  const StepPlan& step = p.planned.plan.steady;
  const std::string first = text_of(p, step, find(step, InstructionKind::HostWait, "root"));
  CHECK_THAT(first, test::contains_text("The queue is not emptied between steps: it waits for"));
  CHECK_THAT(first, test::contains_text("parallel.prefetch.limit_all_gathers: true (default)"));
  const auto waits = [](const Instruction& i) {
    return i.kind == InstructionKind::HostWait && !i.waits.empty();
  };
  const auto later = std::find_if(step.instructions.begin(), step.instructions.end(), waits);
  REQUIRE(later != step.instructions.end());
  CHECK_THAT(text_of(p, step, static_cast<std::size_t>(later - step.instructions.begin())),
             test::contains_text("the host issues nothing more until it is done"));
}

TEST_CASE("explain: DDP's buckets name their settings") {
  const Planned p = plan({"parallel={strategy: ddp, ddp: {bucket_size: 512KiB}}"});
  const StepPlan& step = p.planned.plan.steady;
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    if (step.instructions[i].kind != InstructionKind::AllReduce ||
        step.passes[step.instructions[i].pass] != "ddp")
      continue;
    CHECK_THAT(text_of(p, step, i), test::contains_text("parallel.ddp.bucket_size: 512KiB (--set"));
    return;
  }
  FAIL("no bucket is reduced");
}

}  // namespace shardlab
