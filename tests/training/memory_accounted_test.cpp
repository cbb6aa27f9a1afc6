// Memory is accounted, not estimated: what the plan and the simulator say is alive is what the allocator
// counted, instruction by instruction, of the first and of the steady step.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/training/family_scenario.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr double k_border_limit = 0.001;
constexpr double k_peak_limit = 0.01;

struct Measured {
  RankTrace first, steady;  // of rank 0
  Bytes communication_workspace;
};

Measured measure(const PlannedScenario& planned) {
  Measured measured;
  std::vector<MemoryLedger> ledgers(static_cast<std::size_t>(planned.plan.steady.world_size));
  const Status done = run_ranks(
      planned,
      [&](RankExecutor& executor, int rank) -> Status {
        SHARDLAB_TRY(RankTrace first, executor.step());
        if (planned.plan.second) SHARDLAB_CHECK_OK(executor.step());
        SHARDLAB_TRY(RankTrace steady, executor.step());
        if (rank != 0) return {};
        measured = {std::move(first), std::move(steady), executor.communication_workspace()};
        return {};
      },
      {}, ledgers);
  REQUIRE_OK(done);
  return measured;
}

double relative(Bytes predicted, Bytes measured) {
  return std::abs(static_cast<double>(predicted.value - measured.value)) /
         static_cast<double>(measured.value);
}

Bytes highest_peak(const std::vector<MemorySample>& samples) {
  Bytes peak;
  for (const MemorySample& sample : samples) peak = std::max(peak, sample.peak);
  return peak;
}

struct Difference {
  double value = -1;
  std::string where;
  void add(double difference, const StepPlan& plan, InstructionId id) {
    if (difference > value) *this = {difference, instruction_label(plan, id)};
  }
};

void compare(const StepPlan& plan, const std::vector<MemorySample>& predicted,
             const std::vector<MemorySample>& measured) {
  const std::vector<Bytes> live = live_bytes_after(plan);
  REQUIRE(measured.size() == plan.instructions.size());
  REQUIRE(predicted.size() == plan.instructions.size());
  Difference of_plan, of_simulator, of_peak;
  Bytes workspace;
  std::size_t elsewhere = 0;  // samples whose host memory is as predicted
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const InstructionId id = measured[i].instruction;
    REQUIRE(predicted[i].instruction == id);
    elsewhere += predicted[i].elsewhere == measured[i].elsewhere &&
                 predicted[i].peak_elsewhere == measured[i].peak_elsewhere;
    of_plan.add(relative(live[id.index()], measured[i].live), plan, id);
    of_simulator.add(relative(predicted[i].live, measured[i].live), plan, id);
    of_peak.add(relative(predicted[i].peak, measured[i].peak), plan, id);
    workspace =
        std::max(workspace, measured[i].by_class_at_peak[static_cast<std::size_t>(BufferClass::workspace)]);
  }
  const Bytes predicted_peak = highest_peak(predicted);
  const Bytes measured_peak = highest_peak(measured);
  fmt::print("  {:<7} {:>4} instructions, live: plan {:.4f} % ({}), simulator {:.4f} % ({})\n",
             to_string(plan.phase), measured.size(), of_plan.value * 100, of_plan.where,
             of_simulator.value * 100, of_simulator.where);
  fmt::print(
      "          peak {} predicted, {} measured ({:+.4f} %); worst peak of one instruction {:.3f} % ({})\n",
      to_string(predicted_peak), to_string(measured_peak), relative(predicted_peak, measured_peak) * 100,
      of_peak.value * 100, of_peak.where);
  fmt::print("          workspace inside instructions, at their peaks: {}\n", to_string(workspace));
  INFO(to_string(plan.phase) << ": plan worst at " << of_plan.where << ", simulator worst at "
                             << of_simulator.where);
  CHECK(of_plan.value <= k_border_limit);
  CHECK(elsewhere == measured.size());
  CHECK(of_simulator.value <= k_border_limit);
  CHECK(relative(predicted_peak, measured_peak) <= k_peak_limit);
}

void check_planned(const PlannedScenario& planned, const std::string& title) {
  const Result<Device> device = resolve_device(*planned.scenario.cluster);
  REQUIRE_OK(device);
  const Result<RunTrace> predicted = simulate({planned, *device});
  REQUIRE_OK(predicted);
  const Measured measured = measure(planned);
  fmt::print("{}\n", title);
  compare(planned.plan.first, predicted->warmup.at(1).ranks.at(0).memory, measured.first.memory);
  compare(planned.plan.steady, predicted->steps.at(0).ranks.at(0).memory, measured.steady.memory);
  fmt::print("          not predicted: buffers inside the communication library {}\n",
             to_string(measured.communication_workspace));
}

// Products without oneDNN. On processors with AVX-512 and without instructions for bfloat16 it converts
// matrices in scratch memory of its own, which is no part of any plan and 3 % of a small model.
class WithoutOneDnn {
 public:
  WithoutOneDnn() : before_(at::globalContext().userEnabledMkldnn()) {
    at::globalContext().setUserEnabledMkldnn(false);
  }
  WithoutOneDnn(const WithoutOneDnn&) = delete;             // restores what was before, once
  WithoutOneDnn& operator=(const WithoutOneDnn&) = delete;  // likewise
  ~WithoutOneDnn() { at::globalContext().setUserEnabledMkldnn(before_); }

 private:
  bool before_;
};

void check_scenario(const std::string& file, const std::vector<std::string>& overrides) {
  const PlannedScenario planned = planned_file(file, overrides);
  check_planned(planned, fmt::format("{} {} {}", planned.scenario.name, overrides[0], overrides[1]));
}

void check_all(const std::string& file, std::int64_t held_mebibytes) {
  for (const std::string reshard : {"true", "false"}) {
    for (const std::string accumulation : {"1", "2"}) {
      INFO(file << " reshard " << reshard << " accumulation " << accumulation);
      check_scenario(file,
                     {"parallel.reshard_after_forward=" + reshard, "train.accumulation=" + accumulation});
    }
  }
  // What a rank keeps of parameters, gradients and moments is the size in the name.
  const PlannedScenario planned = planned_file(file);
  const double held =
      static_cast<double>(total_parameters(planned.graph)) * 16 / planned.plan.steady.world_size;
  CHECK(held / static_cast<double>(mebibytes(held_mebibytes).value) == Approx(1).margin(0.1));
}

}  // namespace

TEST_CASE("memory is accounted: 64 MiB a rank") {
  check_all("validation/llama-64m.yaml", 64);
}
TEST_CASE("memory is accounted: 256 MiB a rank") {
  check_all("validation/llama-256m.yaml", 256);
}
TEST_CASE("memory is accounted: 1 GiB a rank") {
  check_all("validation/llama-1g.yaml", 1024);
}

TEST_CASE("memory is accounted: every way to shard") {
  const WithoutOneDnn products;
  for (const Spread& spread : all_spreads()) {
    for (const std::vector<std::string>& precision : {std::vector<std::string>{}, spread.bfloat16()}) {
      if (spread.strategy == "ddp" && !precision.empty()) continue;
      check_planned(planned_text(k_small_model, joined(spread.overrides(), precision)),
                    spread.name() + (precision.empty() ? "" : ", bfloat16"));
    }
  }
}

TEST_CASE("memory is accounted: one process and replicas") {
  check_scenario("first/tiny-llama-none.yaml", {"train.micro_batch=2", "train.accumulation=2"});
  check_scenario("first/tiny-llama-ddp.yaml", {"train.micro_batch=2", "train.accumulation=2"});
}

// The temporaries of torch.optim's implementations, which at this size are the peak of the step; states that
// the first step makes.
TEST_CASE("memory is accounted: optimizers") {
  const std::vector<std::string> settings{"train.micro_batch=1", "train.accumulation=1"};
  for (const std::string implementation : {"loop", "foreach"}) {
    for (const char* optimizer : {"adamw", "adam", "sgd"}) {
      std::vector<std::string> overrides = settings;
      overrides.insert(overrides.begin(),
                       {std::string("train.optimizer=") + optimizer,
                        "train.optimizer_implementation=" + implementation, "train.weight_decay=0.1"});
      if (overrides[0] == "train.optimizer=sgd") overrides.emplace_back("train.momentum=0.9");
      check_scenario("first/tiny-llama.yaml", overrides);
    }
  }
}

TEST_CASE("memory is accounted: bfloat16 parameters") {
  check_scenario("first/tiny-llama-bf16.yaml", {"train.micro_batch=2", "train.accumulation=1"});
  check_scenario("first/tiny-llama-bf16.yaml", {"train.micro_batch=2", "train.accumulation=2"});
}

TEST_CASE("memory is accounted: float16 parameters and a scaled loss") {
  check_scenario("first/tiny-llama-bf16.yaml",
                 {"precision.param=float16", "train.accumulation=2", "train.micro_batch=2"});
  // Gradients of one 16-bit dtype add up in another.
  check_scenario("first/tiny-llama-bf16.yaml",
                 {"parallel={strategy: native}", "precision={param: float16, reduce: bfloat16}",
                  "train.accumulation=2", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: frozen parameters") {
  check_scenario("validation/llama-64m.yaml",
                 {"parallel.strategy=fsdp1", "model.frozen=[model.embed_tokens, model.layers.0]"});
  check_scenario("validation/llama-64m.yaml",
                 {"parallel.strategy=fsdp1", "model.frozen=['**.*_proj', '**.norm']"});
  check_scenario("validation/llama-64m.yaml",
                 {"model.frozen=[model.embed_tokens, model.layers.0]", "train.accumulation=1"});
  check_scenario("validation/llama-64m.yaml",
                 {"model.frozen=['**.*_proj', model.embed_tokens]", "train.accumulation=2"});
  check_scenario("first/tiny-llama-none.yaml",
                 {"model.frozen=[model.layers.0.mlp, model.norm]", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: state in host memory") {
  const std::string offload = "offload.parameters=cpu";
  for (const std::string implementation : {"fused", "foreach"})
    check_scenario("first/tiny-llama.yaml",
                   {offload, "train.optimizer_implementation=" + implementation, "train.micro_batch=2"});
  check_scenario("first/tiny-llama-bf16.yaml",
                 {offload, "train.sync=every", "train.accumulation=2", "train.micro_batch=2"});
  check_scenario("first/tiny-llama-bf16.yaml",
                 {"offload={parameters: cpu, pin: false}", "train.accumulation=2", "train.micro_batch=2"});
  for (const char* file : {"first/tiny-llama.yaml", "first/tiny-llama-bf16.yaml"})
    check_scenario(file,
                   {offload, "parallel={strategy: fsdp1}", "train.accumulation=2", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: adapters") {
  const std::string lora = "model.lora={rank: 8, targets: [q_proj, v_proj]}";
  check_scenario("validation/llama-64m.yaml", {lora, "train.accumulation=1"});
  check_scenario("validation/llama-64m.yaml", {lora, "activation.checkpoint=full", "train.accumulation=2"});
  check_scenario("validation/llama-64m.yaml", {lora, "parallel.strategy=fsdp1"});
  check_scenario(
      "first/tiny-llama-ddp.yaml",
      {"model.lora={rank: 4, targets: [all-linear], modules_to_save: [lm_head]}", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: activation checkpointing") {
  check_scenario("validation/llama-64m.yaml", {"activation.checkpoint=full", "train.accumulation=1"});
  check_scenario(
      "validation/llama-64m.yaml",
      {"activation={checkpoint: full, placement: outside, reentrant: true}", "train.accumulation=2"});
  check_scenario("validation/llama-64m.yaml",
                 {"activation={checkpoint: full, every: 2}", "parallel.strategy=fsdp1"});
  check_scenario(
      "validation/llama-64m.yaml",
      {"activation={checkpoint: full, placement: outside, reentrant: true}", "parallel.strategy=fsdp1",
       "parallel.wrap={policy: module, "
       "classes: [LlamaDecoderLayer, LlamaAttention, LlamaMLP]}"});
  check_scenario("first/tiny-llama-ddp.yaml",
                 {"activation.checkpoint=full", "parallel.ddp.bucket_size=1MiB", "train.micro_batch=2"});
  check_scenario("first/tiny-llama-none.yaml",
                 {"activation={checkpoint: full, reentrant: true}", "train.micro_batch=2"});
  check_scenario("validation/llama-64m.yaml",
                 {"activation={checkpoint: full, offload: cpu}", "train.accumulation=2"});
  check_scenario("first/tiny-llama-none.yaml",
                 {"activation={checkpoint: full, reentrant: true, offload: cpu}", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: eager operators") {
  const std::string eager = "model.implementation=eager";
  check_scenario("validation/llama-64m.yaml", {eager, "train.accumulation=2"});
  check_scenario("validation/llama-64m.yaml", {eager, "activation.checkpoint=full"});
  check_scenario("first/tiny-llama-bf16.yaml", {eager, "train.micro_batch=2"});
  check_scenario("first/tiny-llama-ddp.yaml", {eager, "train.micro_batch=2"});
  for (const std::string& file : family_files()) {
    const std::string name = std::filesystem::path(file).stem();
    for (const std::string dtype : {"float32", "bfloat16"}) {
      check_planned(
          planned_text(family_scenario(file), std::vector<std::string>{eager, "model.dtype=" + dtype}),
          name + ", eager, " + dtype);
    }
  }
}

TEST_CASE("memory is accounted: compiled blocks and losses") {
  const std::string eager = "model.implementation=eager";
  check_scenario("validation/llama-64m.yaml", {eager, "model.compile=blocks", "train.accumulation=2"});
  check_scenario("first/tiny-llama-bf16.yaml",
                 {eager, "model.compile=blocks", "model.loss.compiled=true", "train.micro_batch=2"});
  check_scenario("first/tiny-llama-ddp.yaml",
                 {eager, "model.compile=whole", "activation.checkpoint=full", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: an optimizer within backward") {
  const std::string within = "train.optimizer_in_backward=true", no_clipping = "train.clip_norm=null";
  check_scenario("first/tiny-llama-none.yaml", {within, no_clipping, "train.micro_batch=2"});
  check_scenario("validation/llama-64m.yaml",
                 {within, no_clipping, "parallel={strategy: native}", "train.accumulation=1"});
  check_scenario("first/tiny-llama-bf16.yaml", {within, no_clipping, "parallel={strategy: native}",
                                                "cluster.ranks=1", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: dropout") {
  const std::string eager = "model.implementation=eager", share = "model.dropout=10%";
  check_scenario("validation/llama-64m.yaml", {share, "model.attention=unfused", "train.accumulation=2"});
  check_scenario("first/tiny-llama-bf16.yaml",
                 {share, eager, "model.attention=eager", "train.micro_batch=2"});
  check_scenario("first/tiny-llama-ddp.yaml",
                 {share, eager, "model.attention=math", "activation.checkpoint=full", "train.micro_batch=2"});
  check_scenario("validation/llama-64m.yaml",
                 {"model.lora={rank: 8, targets: [q_proj, v_proj], dropout: 0.05}", "train.accumulation=1"});
}

// What a teacher leaves gathered is there in the steady step before it begins.
TEST_CASE("memory is accounted: distillation") {
  const std::string moe = "distillation.teacher={config: '" + data_file("families/qwen3_moe.json").string() +
                          "', overrides: {vocab_size: 257}, dtype: bfloat16, parallel: {strategy: ";
  for (const std::string strategy :
       {"none", "fsdp1", "fsdp1, sharding: shard_grad_op", "fsdp2", "fsdp2, reshard_after_forward: true",
        "fsdp2, reshard_after_forward: false", "native", "native, reshard_after_forward: true"}) {
    for (const Spread& spread : {Spread{"fsdp2", 2, 1, "true"}, Spread{"fsdp2", 4, 2, "2"},
                                 Spread{"ddp", 2, 2}, Spread{"fsdp1", 2, 2, "full_shard"}}) {
      const std::vector<std::string> distilled{
          moe + strategy + "}}", "activation.checkpoint=" + std::string(spread.ranks == 4 ? "full" : "none")};
      check_planned(planned_text(k_small_model, joined(spread.overrides(), distilled)),
                    spread.name() + ", teacher " + strategy);
    }
  }
}

TEST_CASE("memory is accounted: distillation over parts of the tokens") {
  const std::string moe = "distillation.teacher={config: '" + data_file("families/qwen3_moe.json").string() +
                          "', overrides: {vocab_size: 257}, dtype: bfloat16, parallel: {strategy: ";
  for (const std::string strategy : {"none", "fsdp1", "fsdp2", "native"}) {
    for (const Spread& spread : {Spread{"fsdp2", 2, 1, "true"}, Spread{"fsdp1", 2, 2, "full_shard"}}) {
      const std::vector<std::string> distilled{moe + strategy + "}}",
                                               "model.loss={kind: chunked, chunks: 4}"};
      check_planned(planned_text(k_small_model, joined(spread.overrides(), distilled)),
                    spread.name() + ", in parts, teacher " + strategy);
    }
  }
}

TEST_CASE("memory is accounted: chunked losses") {
  for (const std::string over : {"tokens", "vocabulary"}) {
    const std::string loss = "model.loss={kind: chunked, chunks: 4, over: " + over + "}";
    check_scenario("validation/llama-64m.yaml", {loss, "train.accumulation=2"});
    check_scenario("validation/llama-64m.yaml", {loss, "parallel.strategy=fsdp1"});
    check_scenario("validation/llama-64m.yaml", {loss, "model.frozen=[lm_head]"});
    check_scenario("first/tiny-llama-bf16.yaml", {loss, "train.micro_batch=2"});
    check_scenario("first/tiny-llama-ddp.yaml", {loss, "train.micro_batch=2"});
    check_planned(
        planned_text(family_scenario(data_file("families/phi.json")), std::vector<std::string>{loss}),
        "phi, chunked over " + over);
  }
}

TEST_CASE("memory is accounted: selective checkpointing") {
  const std::string kept = "activation={checkpoint: selective, operators: [linear, attention]}";
  check_scenario("validation/llama-64m.yaml", {kept, "train.accumulation=1"});
  check_scenario("validation/llama-64m.yaml",
                 {"activation={checkpoint: selective, operators: [linear/2, attention], every: 2}",
                  "train.accumulation=2"});
  check_scenario("validation/llama-64m.yaml", {kept, "parallel.strategy=fsdp1"});
  check_scenario(
      "validation/llama-64m.yaml",
      {kept, "parallel.wrap={policy: module, classes: [LlamaDecoderLayer, LlamaAttention, LlamaMLP]}"});
  check_scenario("first/tiny-llama-ddp.yaml", {kept, "parallel.ddp.bucket_size=1MiB", "train.micro_batch=2"});
}

TEST_CASE("memory is accounted: every family, checkpointed and not") {
  for (const FamilyCase& family : family_cases()) {
    for (const std::string checkpoint : {"none", "full"}) {
      const std::vector<std::string> overrides{"parallel.strategy=fsdp2", "cluster.ranks=2",
                                               "train.micro_batch=2", "activation.checkpoint=" + checkpoint};
      check_planned(planned_text(family.scenario, joined(family.overrides, overrides)),
                    family.name + ", checkpoint " + checkpoint);
    }
  }
}

}  // namespace shardlab::test
