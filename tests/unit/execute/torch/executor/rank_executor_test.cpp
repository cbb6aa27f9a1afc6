// One rank executor end to end on a Llama of a few thousand parameters, and ranks as threads beside a single
// process.
#include "engine/execute/torch/rank_executor.h"

#include <ATen/ATen.h>

#include <fstream>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "tests/paths.h"
#include "tests/unit/execute/torch/executor/rank_threads.h"

namespace shardlab {
namespace {

using test::contains_text;
using Folder = test::TemporaryFolder;

constexpr const char* k_config =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32,
  "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
  "vocab_size": 128, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
  "tie_word_embeddings": false, "hidden_act": "silu"})";

PlannedScenario plan(const Folder& folder, int ranks, const std::string& strategy,
                     const std::string& more = "") {
  std::ofstream(folder.path() / "config.json") << k_config;
  std::ofstream text(folder.path() / "text.txt");
  for (int i = 0; i < 3000; ++i) text << static_cast<char>('a' + i * i % 26);
  text.close();
  const std::string yaml =
      "name: small\nmodel: {config: " + (folder.path() / "config.json").string() +
      ", sequence_length: 16}\ncluster: {device: cpu, ranks: " + std::to_string(ranks) +
      "}\nparallel: {strategy: " + strategy + "}\ntrain: {micro_batch: " + std::to_string(4 / ranks) +
      ", learning_rate: 1e-2, clip_norm: 1.0, data: text.txt}\nmeasure: {warmup_steps: 1, steps: 3}\n" + more;
  const auto scenario = parse_scenario(yaml, (folder.path() / "s.yaml").string());
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

struct Trained {
  std::vector<double> losses;
  std::vector<double> norms;
  at::Tensor head;
};

// Throws instead of asserting: it runs in threads.
template <typename T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  return *std::move(result);
}

Trained train(const PlannedScenario& planned, int rank, const std::shared_ptr<Communicator>& communicator,
              int steps) {
  RankExecutorOptions options;
  options.rank = rank;
  if (communicator)
    options.communicators = {{RankSet{GroupDimension::shard}, communicator},
                             {RankSet{GroupDimension::replicate}, communicator}};
  const auto executor = take(RankExecutor::create(planned, std::move(options)));
  if (const Status ready = executor->setup(); !ready) throw std::runtime_error(to_string(ready.error()));
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const RankTrace trace = take(executor->step());
    trained.losses.push_back(*trace.loss);
    trained.norms.push_back(*trace.gradient_norm);
  }
  trained.head = take(executor->full_parameter("lm_head.weight"));
  return trained;
}

TEST_CASE("a single rank learns") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 1, "none");
  const Trained trained = train(planned, 0, nullptr, 8);
  CHECK(trained.losses.front() > 4.0);
  CHECK(trained.losses.back() < trained.losses.front() - 0.5);
}

TEST_CASE("ranks together do what one does") {
  const Folder folder;
  const Trained single = train(plan(folder, 1, "none"), 0, nullptr, 4);
  for (const std::string strategy : {"ddp", "fsdp2"}) {
    for (const int world : {2, 4}) {
      const PlannedScenario planned = plan(folder, world, strategy);
      std::vector<Trained> ranks(static_cast<std::size_t>(world));
      test::run_ranks(world, [&](int rank, const auto& communicator) {
        ranks[static_cast<std::size_t>(rank)] = train(planned, rank, communicator, 4);
      });
      INFO(strategy << " on " << world);
      for (std::size_t step = 0; step < 4; ++step) {
        double mean = 0;
        for (const Trained& rank : ranks) mean += rank.losses.at(step) / world;
        CHECK(mean == Approx(single.losses[step]).epsilon(1e-5));
        CHECK(ranks[0].norms.at(step) == Approx(single.norms[step]).epsilon(1e-4));
      }
      CHECK(at::equal(ranks[0].head, ranks[1].head));
      CHECK((ranks[0].head - single.head).abs().max().item<double>() < 2e-4);
    }
  }
}

TEST_CASE("spans cover the step in order, memory returns to where it was") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 2, "fsdp2");
  install_counting_allocator();
  test::run_ranks(2, [&](int rank, const auto& communicator) {
    RankExecutorOptions options;
    options.rank = rank;
    options.communicators = {{RankSet{GroupDimension::shard}, communicator}};
    const auto executor = take(RankExecutor::create(planned, std::move(options)));
    if (!executor->setup()) throw std::runtime_error("setup");
    take(executor->step());
    const RankTrace trace = take(executor->step());
    const StepPlan& steady = planned.plan.steady;
    if (trace.spans.size() != steady.instructions.size()) throw std::runtime_error("spans");
    const std::vector<Bytes> live = live_bytes_after(steady);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
      const Span& span = trace.spans[i];
      const bool ordered = span.issue <= span.ready && span.ready <= span.start && span.start <= span.end &&
                           span.end <= trace.duration;
      if (!ordered)
        throw std::runtime_error("times of " +
                                 instruction_label(steady, InstructionId{static_cast<std::uint32_t>(i)}));
      for (const InstructionId wait : steady.instructions[i].waits) {
        if (trace.spans[wait.index()].end > span.start) throw std::runtime_error("did not wait");
      }
      if (trace.memory[i].live != live[i]) {
        throw std::runtime_error(instruction_label(steady, InstructionId{static_cast<std::uint32_t>(i)}) +
                                 ": planned " + to_string(live[i]) + ", measured " +
                                 to_string(trace.memory[i].live));
      }
      if (trace.memory[i].peak < trace.memory[i].live) throw std::runtime_error("peak below live");
    }
  });
}

TEST_CASE("a late read of freed memory would spoil the result: none happens") {
  const Folder folder;
  install_counting_allocator();
  for (const std::string strategy : {"ddp", "fsdp2"}) {
    const PlannedScenario planned = plan(folder, 2, strategy);
    std::vector<double> losses[2];
    for (const bool poison : {false, true}) {
      poison_freed_memory(poison);
      test::run_ranks(2, [&](int rank, const auto& communicator) {
        const Trained trained = train(planned, rank, communicator, 3);
        if (rank == 0) losses[poison] = trained.losses;
      });
      poison_freed_memory(false);
    }
    CHECK(losses[0] == losses[1]);
  }
}

TEST_CASE("an observer sees averaged gradients") {
  const Folder folder;
  const PlannedScenario alone = plan(folder, 1, "none");
  const PlannedScenario sharded = plan(folder, 2, "fsdp2");
  const auto gradient_of = [](const PlannedScenario& planned, int rank,
                              const std::shared_ptr<Communicator>& communicator) {
    at::Tensor gradient;
    RankExecutorOptions options;
    options.rank = rank;
    if (communicator) options.communicators = {{RankSet{GroupDimension::shard}, communicator}};
    options.observer = [&](RankExecutor& executor, const StepPlan& step, InstructionId id) {
      if (step.instruction(id).kind == InstructionKind::GradientNorms) {
        gradient = take(executor.full_gradient("model.layers.1.mlp.down_proj.weight"));
      }
    };
    const auto executor = take(RankExecutor::create(planned, std::move(options)));
    if (!executor->setup()) throw std::runtime_error("setup");
    take(executor->step());
    return gradient;
  };
  const at::Tensor expected = gradient_of(alone, 0, nullptr);
  REQUIRE(expected.sizes() == at::IntArrayRef({32, 56}));
  at::Tensor gathered[2];
  test::run_ranks(2, [&](int rank, const auto& communicator) {
    gathered[rank] = gradient_of(sharded, rank, communicator);
  });
  CHECK(at::equal(gathered[0], gathered[1]));
  CHECK(((gathered[0] - expected).abs().max() / expected.abs().max()).item<double>() < 1e-6);
}

TEST_CASE("a failure names rank, step and instruction") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 2, "fsdp2");
  test::run_ranks(
      2,
      [&](int rank, const auto& communicator) {
        RankExecutorOptions options;
        options.rank = rank;
        options.communicators = {{RankSet{GroupDimension::shard}, communicator}};
        const auto executor = take(RankExecutor::create(planned, std::move(options)));
        if (!executor->setup()) throw std::runtime_error("setup");
        take(executor->step());
        if (rank == 1) return;  // never makes the second step
        const auto step = executor->step();
        if (step) throw std::runtime_error("the step succeeded alone");
        const Error& error = step.error();
        if (error.kind != ErrorKind::run_failed || error.code != ErrorCode::failed_in_step ||
            error.place.rank != 0 || !error.place.name.starts_with("step 1, ") ||
            error.place.name.find("AllGather") == std::string::npos) {
          throw std::runtime_error(to_string(error));
        }
      },
      std::chrono::milliseconds(500));
}

TEST_CASE("weights that do not fit the model are refused before anything runs") {
  const Folder folder;
  PlannedScenario planned = plan(folder, 1, "none");
  planned.scenario.model->weights = "missing.safetensors";
  const auto executor = RankExecutor::create(planned, {});
  REQUIRE_FALSE(executor);
  CHECK(executor.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(executor.error()), contains_text("missing.safetensors"));
}

}  // namespace
}  // namespace shardlab
