// How a rank ends: in which order its peers, its spool and its program hear of a failure, and when its device
// may take communicators apart.
#include "engine/execute/torch/rank_session.h"

#include "engine/execute/torch/host/host_backend.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using test::contains_text;

// What happened, in order; the test's own.
std::vector<std::string>* happened = nullptr;
std::string* refusal = nullptr;  // of connect(); empty: it connects

class NotingRuntime : public DeviceRuntime {
 public:
  ~NotingRuntime() override { happened->push_back("closed"); }
  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }
  Result<Communicators> connect(const Rendezvous&, const std::vector<RankGroup>&) override {
    if (!refusal->empty()) return run_failed("group shard", *refusal);
    return Communicators{};
  }
  std::string name() const override { return "a device of a test"; }
  std::map<std::string, std::string> versions() const override { return {}; }
  std::optional<DeviceMemory> memory() const override { return std::nullopt; }
  void end_step() override { happened->push_back("step"); }
  void report(const std::string& what) override { happened->push_back("reported " + what); }
  void finish() override { happened->push_back("finished"); }
  Status save_history(const std::filesystem::path&) const override { return {}; }

 private:
  const std::shared_ptr<ExecutionBackend> backend_ = make_host_backend(Arithmetic::device);
};

Result<std::unique_ptr<DeviceRuntime>> open_noting(const DeviceRequest&) {
  return std::make_unique<NotingRuntime>();
}

const char* k_scenario = R"(
name: small
model:
  config: tiny-llama
  sequence_length: 16
  overrides: {hidden_size: 32, intermediate_size: 56, num_hidden_layers: 1, num_attention_heads: 4,
              num_key_value_heads: 2, vocab_size: 257}
cluster: {gpu: H100-SXM, gpus_per_node: 1}
parallel: {strategy: none}
train: {micro_batch: 2, learning_rate: 1e-3, data: assets/data/licenses.txt}
measure: {warmup_steps: 0, steps: 2}
)";

struct Ran {
  Status done;
  std::vector<std::string> events;
  Spool spool;
};

Ran run(const std::string& connect_refusal, const Planner& planner) {
  Ran ran;
  std::string refused = connect_refusal;
  happened = &ran.events;
  refusal = &refused;
  const test::TemporaryFolder folder;
  const auto scenario = parse_scenario(k_scenario, (test::source_folder() / "scenario.yaml").string());
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  RankJob job;
  job.scenario = write_scenario(*scenario);
  job.directory = test::source_folder().string();
  job.run_hash = run_hash(planned->plan);
  RankEnvironment environment;
  auto spool = SpoolWriter::create(spool_path(folder.path(), 0));
  REQUIRE_OK(spool);
  const RankServices services{planner, open_noting,
                              [&](const Error& error) { ran.events.push_back("failed " + error.what); }};
  ran.done = run_rank(job, folder.path(), environment, services, *spool);
  const auto read = read_spool(spool_path(folder.path(), 0));
  REQUIRE_OK(read);
  ran.spool = *read;
  return ran;
}

Result<PlannedScenario> plan(const Scenario& scenario) {
  return plan_scenario(scenario);
}

}  // namespace

TEST_CASE("a rank that ends well takes its communicators apart, after all steps") {
  const Ran ran = run("", plan);
  REQUIRE_OK(ran.done);
  CHECK(ran.events == std::vector<std::string>{"step", "step", "finished", "closed"});
  CHECK_FALSE(ran.spool.error);
}

TEST_CASE(
    "a rank that fails says so to its spool, its peers and its program before anything is taken apart") {
  const Ran ran = run("rank 1 did not come", plan);
  REQUIRE_FALSE(ran.done);
  REQUIRE(ran.events.size() == 3);
  CHECK_THAT(ran.events[0], contains_text("reported group shard: rank 1 did not come"));
  CHECK(ran.events[1] == "failed rank 1 did not come");
  CHECK(ran.events[2] == "closed");
  REQUIRE(ran.spool.error);
  CHECK(ran.spool.error->what == "rank 1 did not come");
}

TEST_CASE("what fails before there is a device is in the spool, too, and once") {
  const Ran ran =
      run("", [](const Scenario&) -> Result<PlannedScenario> { return run_failed("plan", "no"); });
  REQUIRE_FALSE(ran.done);
  CHECK(ran.events == std::vector<std::string>{"failed no"});
  REQUIRE(ran.spool.error);
}

}  // namespace shardlab
