// Runs as users start them: one process a rank. What happens when a rank dies, stops, or never comes.
#include "engine/execute/launch.h"

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/checkpoint/safetensors.h"
#include "engine/execute/spool.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using test::contains_text;
using Folder = test::TemporaryFolder;
namespace fs = std::filesystem;

constexpr const char* k_config =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32,
  "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
  "vocab_size": 128, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
  "tie_word_embeddings": false, "hidden_act": "silu"})";

PlannedScenario plan(const Folder& folder, int steps, const std::string& more = "") {
  std::ofstream(folder.path() / "config.json") << k_config;
  std::ofstream text(folder.path() / "text.txt");
  for (int i = 0; i < 3000; ++i) text << static_cast<char>('a' + i * i % 26);
  text.close();
  const std::string yaml =
      "name: small\nmodel: {config: config.json, sequence_length: 16}\n"
      "cluster: {device: cpu, ranks: 2}\nparallel: {strategy: fsdp2}\n"
      "train: {micro_batch: 2, learning_rate: 1e-2, clip_norm: 1.0, data: text.txt}\n"
      "measure: {warmup_steps: 1, steps: " +
      std::to_string(steps) + "}\n" + more;
  const auto scenario = parse_scenario(yaml, (folder.path() / "s.yaml").string());
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

LaunchOptions options_in(const Folder& folder) {
  LaunchOptions options;
  options.rank_program = test::programs_folder() / "shardlab-rank";
  options.run_directory = folder.path() / "run";
  return options;
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The child of this process whose environment says RANK=n.
pid_t child_with_rank(int rank) {
  std::istringstream children(read_file("/proc/self/task/" + std::to_string(::getpid()) + "/children"));
  const std::string wanted = std::string(1, '\0') + "RANK=" + std::to_string(rank) + '\0';
  for (pid_t child = 0; children >> child;) {
    const std::string environment = '\0' + read_file("/proc/" + std::to_string(child) + "/environ");
    if (environment.find(wanted) != std::string::npos) return child;
  }
  return 0;
}

// Sends a signal to rank 1 once two steps are done.
std::function<void(const RunProgress&)> send_to_rank_1(int signal, bool& sent) {
  return [signal, &sent](const RunProgress& progress) {
    if (sent || progress.steps_done < 2) return;
    const pid_t child = child_with_rank(1);
    if (child != 0) sent = ::kill(child, signal) == 0;
  };
}

using Clock = std::chrono::steady_clock;

TEST_CASE("two processes train and tell what they measured") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 6);
  LaunchOptions options = options_in(folder);
  options.extras.save_weights = folder.path() / "trained.safetensors";
  std::int64_t seen = 0;
  options.progress = [&](const RunProgress& progress) { seen = progress.steps_done; };
  const auto run = launch_run(planned, options);
  REQUIRE_OK(run);
  CHECK(seen == 7);
  REQUIRE(run->steps.size() == 6);
  CHECK(run->warmup.size() == 1);
  REQUIRE(run->losses.size() == 7);
  CHECK(run->losses.back() < run->losses.front());
  CHECK(run->gradient_norms.size() == 7);
  CHECK(run->provenance.kind == RunKind::measured);
  CHECK(run->provenance.versions.at("torch") == "2.11.0");
  for (const StepTrace& step : run->steps) {
    CHECK(step.plan_hash == plan_hash(planned.plan.steady));
    REQUIRE(step.ranks.size() == 2);
    CHECK(std::min(step.ranks[0].start_offset, step.ranks[1].start_offset) == Nanoseconds{0});
    CHECK(step.ranks[0].memory.back().live > Bytes{0});
  }
  const auto weights = SafetensorsReader::open(options.extras.save_weights);
  REQUIRE_OK(weights);
  CHECK(weights->tensors().size() == planned.graph.parameters.size());
}

TEST_CASE("training can start from saved weights") {
  const Folder folder;
  PlannedScenario first = plan(folder, 3);
  LaunchOptions options = options_in(folder);
  options.extras.save_weights = folder.path() / "trained.safetensors";
  const auto before = launch_run(first, options);
  REQUIRE_OK(before);
  const PlannedScenario second = plan(folder, 1, "");
  PlannedScenario loaded = second;
  loaded.scenario.model->weights = "trained.safetensors";
  options.extras.save_weights.clear();
  const auto after = launch_run(loaded, options);
  REQUIRE_OK(after);
  CHECK(after->losses.front() < before->losses.front() - 0.1);
}

TEST_CASE("freed means freed: poisoned memory changes nothing") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 3);
  LaunchOptions options = options_in(folder);
  const auto plain = launch_run(planned, options);
  REQUIRE_OK(plain);
  options.extras.poison = true;
  const auto poisoned = launch_run(planned, options);
  REQUIRE_OK(poisoned);
  CHECK(plain->losses == poisoned->losses);
}

TEST_CASE("a killed rank: the other names the instruction it waited in, at once") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 100'000);
  LaunchOptions options = options_in(folder);
  bool sent = false;
  options.progress = send_to_rank_1(SIGKILL, sent);
  const auto began = Clock::now();
  const auto run = launch_run(planned, options);
  CHECK(Clock::now() - began < std::chrono::seconds(60));
  CHECK(sent);
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::run_failed);
  const std::string text = to_string(run.error());
  CHECK_THAT(text, contains_text("rank 1 ended after") && contains_text("killed by signal 9"));
  CHECK_THAT(text, contains_text("rank 0 waited in"));
  const auto spool = read_spool(spool_path(options.run_directory, 0));
  REQUIRE_OK(spool);
  CHECK(spool->steps.size() >= 2);
  REQUIRE(spool->error);
}

TEST_CASE("a stopped rank: the other gives up after the timeout and both end") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 100'000, "launch: {timeout: 2s}\n");
  LaunchOptions options = options_in(folder);
  bool sent = false;
  options.progress = send_to_rank_1(SIGSTOP, sent);
  const auto began = Clock::now();
  const auto run = launch_run(planned, options);
  CHECK(Clock::now() - began < std::chrono::seconds(90));
  CHECK(sent);
  REQUIRE_FALSE(run);
  const std::string text = to_string(run.error());
  CHECK_THAT(text, contains_text("rank 1 did not answer") && contains_text("rank 0 waited in"));
}

TEST_CASE("a rank that never comes is named") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 1, "launch: {timeout: 2s}\n");
  RankEnvironment alone{0, 2, 0, "127.0.0.1", 29791, Launcher::torchrun};
  const auto run = run_as_rank(planned, options_in(folder), alone);
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::run_failed);
  CHECK_THAT(to_string(run.error()), contains_text("rank 1 of 2 did not arrive"));
}

TEST_CASE("another number of ranks than the scenario's is refused") {
  const Folder folder;
  const auto run =
      run_as_rank(plan(folder, 1), options_in(folder), {0, 3, 0, "127.0.0.1", 29792, Launcher::torchrun});
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
}

TEST_CASE("bad input found by a rank comes back as it is") {
  const Folder folder;
  PlannedScenario planned = plan(folder, 1);
  std::ofstream(folder.path() / "text.txt", std::ios::trunc) << "too short";
  const auto run = launch_run(planned, options_in(folder));
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(run.error()), contains_text("text.txt") && contains_text("less than one sequence"));
}

TEST_CASE("ranks that plan something else are refused") {
  const Folder folder;
  PlannedScenario planned = plan(folder, 1);
  planned.plan.steady.instructions.pop_back();
  const auto run = launch_run(planned, options_in(folder));
  REQUIRE_FALSE(run);
  CHECK_THAT(to_string(run.error()), contains_text("same version"));
}

TEST_CASE("a missing rank program is not possible, with its name") {
  const Folder folder;
  LaunchOptions options = options_in(folder);
  options.rank_program = folder.path() / "shardlab-rank";
  const auto run = launch_run(plan(folder, 1), options);
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::not_possible);
  CHECK_THAT(to_string(run.error()), contains_text("shardlab-rank"));
}

TEST_CASE("an interrupt ends the ranks and the run") {
  const Folder folder;
  const PlannedScenario planned = plan(folder, 100'000);
  LaunchOptions options = options_in(folder);
  bool sent = false;
  pid_t rank = 0;
  options.progress = [&](const RunProgress& progress) {
    if (sent || progress.steps_done < 2) return;
    rank = child_with_rank(0);
    sent = ::pthread_kill(::pthread_self(), SIGINT) == 0;
  };
  const auto run = launch_run(planned, options);
  REQUIRE_FALSE(run);
  CHECK_THAT(to_string(run.error()), contains_text("interrupted"));
  REQUIRE(rank != 0);
  CHECK(::kill(rank, 0) != 0);
}

}  // namespace
}  // namespace shardlab
