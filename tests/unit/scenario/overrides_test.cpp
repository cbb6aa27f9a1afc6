#include <string>
#include <vector>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_base = R"(
model: { config: tiny-llama, sequence_length: 128 }
cluster: { device: cpu, ranks: 2 }
parallel: { strategy: fsdp2 }
train: { micro_batch: 4 }
)";

Result<Scenario> with(std::vector<std::string> sets) {
  return parse_scenario(k_base, "a.yaml", sets);
}

std::string error_of(std::vector<std::string> sets) {
  const auto read = with(std::move(sets));
  return read ? "no error" : to_string(read.error());
}

TEST_CASE("overrides: replace, add and unset values") {
  const auto read =
      with({"train.micro_batch=8", "train.betas=[0.9, 0.95]", "train.schedule={kind: linear, total_steps: 9}",
            "name=other", "parallel.strategy=ddp", "train.clip_norm=2", "train.clip_norm=none",
            "model.overrides.num_hidden_layers=2", "launch.env.A=b=c"});
  REQUIRE_OK(read);
  CHECK(read->train->micro_batch == 8);
  CHECK(read->train->betas == std::array<double, 2>{0.9, 0.95});
  CHECK(read->train->schedule == ScheduleSpec{ScheduleKind::linear, 0, 9});
  CHECK(read->name == "other");
  CHECK(read->parallel->strategy == "ddp");
  CHECK_FALSE(read->train->clip_norm.has_value());
  CHECK(read->model->overrides.at("num_hidden_layers") == "2");
  CHECK(read->launch->environment.at("A") == "b=c");
}

TEST_CASE("overrides: names in any case and aliases become the names that are written") {
  const auto read = with({"parallel.strategy=FSDP2", "cluster={node: HGX-H100}"});
  REQUIRE_OK(read);
  CHECK(read->parallel->strategy == "fsdp2");
  CHECK(read->cluster->node == "dgx-h100");
  CHECK(with({"parallel.strategy=fully_shard"})->parallel->strategy == "fsdp2");
  CHECK(with({"parallel.strategy=FullyShardedDataParallel"})->parallel->strategy == "fsdp1");
  CHECK(with({"cluster={gpu: h100, gpus_per_node: 8}"})->cluster->gpu == "H100-SXM");
}

TEST_CASE("overrides: a section that is one word is written out") {
  const std::string_view short_form =
      "model: {config: tiny-llama, sequence_length: 128}\ncluster: hgx-h100\nparallel: {strategy: fsdp2}\n"
      "distillation: {teacher: tiny-llama}\n";
  const auto read =
      parse_scenario(short_form, "a.yaml",
                     std::vector<std::string>{"cluster.nodes=2", "distillation.teacher.dtype=bfloat16",
                                              "distillation.teacher.parallel.strategy=fsdp2"});
  REQUIRE_OK(read);
  CHECK(read->cluster->node == "dgx-h100");
  CHECK(read->cluster->nodes == 2);
  CHECK(read->distillation->teacher.model->config == "tiny-llama");
  CHECK(read->distillation->teacher.model->dtype == DType::bfloat16);
  CHECK(read->distillation->teacher.parallel->strategy == "fsdp2");
}

TEST_CASE("overrides: names that mean several things are told apart") {
  const auto strategy = [](const std::string& name) { return error_of({"parallel.strategy=" + name}); };
  CHECK_THAT(strategy("fsdp"), test::contains_text("(did you mean fsdp1, or fsdp2?)"));
  CHECK_THAT(strategy("HSDP"),
             test::contains_text("fsdp2 with parallel.mesh.replicate, the number of copies"));
  CHECK(strategy("ZeRO-3") == "no error");
  CHECK_THAT(strategy("zero"), test::contains_text("did you mean zero1, or zero2, or zero3?"));
}

TEST_CASE("overrides: a scenario may consist of overrides alone") {
  const auto read =
      parse_scenario("", "a.yaml",
                     std::vector<std::string>{"model.config=tiny-llama", "model.sequence_length=16",
                                              "cluster={device: cpu, ranks: 1}"});
  REQUIRE_OK(read);
  CHECK(read->cluster->ranks == 1);
}

TEST_CASE("overrides: another strategy is told how to leave the first one's keys out") {
  const std::string error = error_of({"parallel.reshard_after_forward=false", "parallel.strategy=ddp"});
  CHECK_THAT(error,
             test::contains_text("remove it; --set 'parallel={strategy: ddp}' leaves out all other keys"));
  CHECK(error_of({"parallel.reshard_after_forward=false", "parallel={strategy: ddp}"}) == "no error");
}

TEST_CASE("overrides: mistakes are placed at the option") {
  CHECK(error_of({"train.micro_batch=x"}) ==
        "--set train.micro_batch=x: train.micro_batch: 'x' is not an integer");
  CHECK(error_of({"train.micro_batc=1"}) ==
        "--set train.micro_batc=1: train: unknown key 'micro_batc' (did you mean 'micro_batch'?)");
  CHECK(error_of({"trian.micro_batch=1"}) ==
        "--set trian.micro_batch=1: unknown key 'trian' (did you mean 'train'?)");
  CHECK(
      error_of({"activation.offload=cpu"}) ==
      "--set activation.offload=cpu: activation.offload: not supported yet: without checkpoints, of all that "
      "backward reads (nearest that works: activation.checkpoint: full)");
  CHECK(error_of({"cluster.ranks=3", "parallel.mesh.shard=2"}).substr(0, 52) ==
        "--set parallel.mesh.shard=2: parallel.mesh: impossib");
  CHECK(error_of({"train"}) == "--set train: expected key=value (for example train.micro_batch=8)");
  CHECK(error_of({"=1"}) == "--set =1: expected key=value (for example train.micro_batch=8)");
  CHECK(error_of({"train..seed=1"}) == "--set train..seed=1: a key with an empty part");
  CHECK(error_of({"train.seed="}) == "--set train.seed=: train.seed: has no value");
  CHECK(error_of({"train.betas=[0.9"}).substr(0, 36) == "--set train.betas=[0.9: YAML syntax:");
  CHECK(error_of({"parallel.strategy.name=x"}) ==
        "--set parallel.strategy.name=x: parallel.strategy is a value (at a.yaml:4:23), not a map of keys "
        "(set parallel.strategy as a whole)");
}

}  // namespace
}  // namespace shardlab
