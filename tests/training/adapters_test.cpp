// Low-rank adapters train sharded as unsharded, the model around them stays what it is, and training them is
// descending along what a full training would compute.
#include <ATen/ATen.h>

#include "engine/checkpoint/safetensors.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 4;
const std::string k_lora = "model.lora={rank: 3, alpha: 6, targets: [q_proj, v_proj, down_proj]}";
const std::string k_lora_and_head =
    "model.lora={rank: 2, targets: [all-linear], modules_to_save: [lm_head, model.norm]}";
const std::vector<std::string> k_sgd = {"train.optimizer=sgd", "train.learning_rate=0.5",
                                        "train.weight_decay=0.1"};
const std::vector<std::string> k_adamw = {"train.optimizer=adamw", "train.clip_norm=1.0"};

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

// peft's own rule for FSDP: adapters are units apart from the frozen layers around them.
const std::string k_adapter_units =
    "parallel.wrap={policy: or, any: [{policy: transformer}, {policy: lambda, match: [{path: "
    "'**.lora_?.default'}]}]}";

const std::vector<Spread>& spreads() {
  static const std::vector<Spread> list = {
      Spread{"ddp", 2},
      Spread{"ddp", 4, 2, "", "every", {"parallel.ddp.gradient_as_bucket_view=true"}},
      Spread{"fsdp2", 2, 1, "true"},
      Spread{"fsdp2", 4, 2, "false", "every"},
      Spread{"fsdp2", 2, 1, "true", "last", {"activation.checkpoint=full"}},
      Spread{"fsdp2", 2, 2, "true", "last", {k_adapter_units}},
      Spread{"fsdp1", 2, 1, "full_shard"},
      Spread{"fsdp1", 4, 2, "shard_grad_op"},
      Spread{"fsdp1", 2, 1, "no_shard"},
      Spread{"fsdp1", 4, 1, "hybrid_shard"},
      Spread{"fsdp1", 2, 1, "full_shard", "last", {k_adapter_units}},
      Spread{"fsdp1", 2, 1, "full_shard", "last", {k_adapter_units, "parallel.use_orig_params=false"}},
      Spread{"zero0", 2, 2},
      Spread{"zero1", 2, 2},
      Spread{"zero2", 4, 2, "", "last", {"parallel.zero={reduce_bucket_size: 300}"}},
      Spread{"zero2", 2, 1, "", "last", {"offload.optimizer=cpu"}},
      Spread{"zero3", 2, 1, "", "last", {"parallel.zero={sub_group_size: 100}"}},
      Spread{"zero3",
             4,
             2,
             "",
             "last",
             {"parallel.zero={stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0}",
              "offload={optimizer: cpu, parameters: cpu}"}},
  };
  return list;
}

}  // namespace

namespace {

// Every spread with one kind of adapters, or with both.
void compare_all(bool both) {
  for (const std::string& lora : {k_lora, k_lora_and_head}) {
    const Trained whole = train_or_fail(joined({lora}, k_sgd));
    const Trained clipped = train_or_fail(joined({lora}, k_adamw));
    for (std::size_t s = 0; s < spreads().size(); ++s) {
      const Spread& spread = spreads()[s];
      if (!both && (s % 2 == 0) != (lora == k_lora)) continue;
      // A module to save is two layers of one unit, one of them frozen: no flat parameter takes that.
      if (lora == k_lora_and_head && spread.strategy == "fsdp1" && spread.more.size() == 2) continue;
      INFO(spread.name() << ", " << lora);
      const Trained sharded = train_or_fail(joined({lora}, joined(k_sgd, spread.overrides())));
      CHECK(bitwise_equal(sharded.initial, whole.initial));
      CHECK(worst_difference(sharded.gradients, whole.gradients).difference <= 2e-6);
      CHECK(worst_difference(sharded.parameters, whole.parameters).difference <= 5e-6);  // after steps of 0.5
      const Trained adam = train_or_fail(joined({lora}, joined(k_adamw, spread.overrides())));
      for (std::size_t step = 0; step < k_steps; ++step) {
        CHECK(adam.gradient_norms[step] == Approx(clipped.gradient_norms[step]).epsilon(1e-5));
        CHECK(adam.losses[step] == Approx(clipped.losses[step]).epsilon(1e-6));
      }
    }
  }
}

}  // namespace

TEST_CASE("sharded equals unsharded with adapters") {
  compare_all(false);
}

// Minutes: for changes of adapters.
TEST_CASE("sharded equals unsharded with adapters of both kinds under every spread", "[.nightly]") {
  compare_all(true);
}

TEST_CASE("a model with new adapters computes what it did without, and only they move") {
  const Trained plain = train_or_fail(k_sgd);
  const Trained adapted = train_or_fail(joined({k_lora}, k_sgd));
  CHECK(adapted.losses.front() == plain.losses.front());
  CHECK(adapted.losses.back() < adapted.losses.front());
  for (const auto& [name, value] : adapted.parameters) {
    INFO(name);
    const bool adapter = name.find("lora_") != std::string::npos;
    CHECK(at::equal(value, adapted.initial.at(name)) != adapter);
    CHECK(adapted.gradients.count(name) == (adapter ? 1 : 0));
  }
}

// dB = scale * dy^T (x A^T) = scale * dW A^T: W's gradient is what training without adapters computes, as
// long as B is zero.
TEST_CASE("the first gradient of B is the layer's own, seen through A") {
  const Trained plain = train_or_fail(k_sgd);
  const Trained adapted = train_or_fail(joined({k_lora}, k_sgd));
  for (const std::string layer : {"model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.v_proj",
                                  "model.layers.2.mlp.down_proj"}) {
    INFO(layer);
    const at::Tensor a = adapted.initial.at(layer + ".lora_A.default.weight");
    const at::Tensor expected = 6.0 / 3.0 * at::mm(plain.gradients.at(layer + ".weight"), a.t());
    CHECK(relative_difference(adapted.gradients.at(layer + ".lora_B.default.weight"), expected) <= 1e-5);
    CHECK(adapted.gradients.at(layer + ".lora_A.default.weight").abs().max().item<double>() == 0);
  }
}

TEST_CASE("adapters have states and are reduced, the rest is not") {
  for (const Spread& spread : {Spread{"ddp", 2}, Spread{"fsdp2", 2, 1, "true"}}) {
    INFO(spread.name());
    const PlannedScenario planned =
        planned_text(k_small_model, joined({k_lora}, joined(k_adamw, spread.overrides())));
    const std::int64_t trained = trainable_parameters(planned.graph);
    CHECK(trained == 3 * 3 * ((60 + 60) + (60 + 30) + (170 + 60)));
    std::int64_t states = 0;
    for (const Buffer& buffer : planned.plan.steady.buffers) {
      const bool gradient = buffer.buffer_class == BufferClass::gradient ||
                            buffer.buffer_class == BufferClass::reduce_buffer ||
                            buffer.buffer_class == BufferClass::optimizer_state;
      for (const ParameterId id : gradient ? buffer.parameters : std::vector<ParameterId>{})
        CHECK(planned.graph.parameter(id).adapter);
      if (buffer.role == BufferRole::exp_avg) states += buffer.elements;
    }
    CHECK(states * spread.ranks >= trained);
    CHECK(states * spread.ranks <= 2 * trained);  // padding of rows
  }
}

TEST_CASE("a checkpoint of the model without adapters is the base, one with them is read whole") {
  const TemporaryFolder folder;
  const auto weights = [&](const char* name) { return "model.weights=" + (folder.path() / name).string(); };
  const auto write = [&](const char* name, const NamedTensors& tensors) {
    std::vector<TensorToWrite> list;
    for (const auto& [key, value] : tensors) {
      const auto* data = static_cast<const std::byte*>(value.const_data_ptr());
      list.push_back(
          {key, DType::float32, Shape(value.sizes().begin(), value.sizes().end()), {data, value.nbytes()}});
    }
    REQUIRE_OK(write_safetensors(folder.path() / name, list));
  };
  const Trained plain = train_or_fail(joined({"train.seed=5"}, k_sgd));
  write("base.safetensors", plain.parameters);
  const Trained adapted = train_or_fail(joined({k_lora, weights("base.safetensors")}, k_sgd));
  const std::string layer = "model.layers.1.self_attn.q_proj";
  CHECK(at::equal(adapted.initial.at(layer + ".base_layer.weight"), plain.parameters.at(layer + ".weight")));
  CHECK(adapted.initial.at(layer + ".lora_B.default.weight").abs().max().item<double>() == 0);
  write("adapted.safetensors", adapted.parameters);
  const Trained again = train_or_fail(joined({k_lora, weights("adapted.safetensors")}, k_sgd));
  CHECK(bitwise_equal(again.initial, adapted.parameters));
  const auto other =
      train(planned_text(k_small_model, std::vector<std::string>{weights("adapted.safetensors")}), 1);
  REQUIRE_FALSE(other);
  CHECK_THAT(to_string(other.error()), contains_text("not in the model: "));
}

TEST_CASE("one flat tensor takes no adapters beside the layers they belong to") {
  const auto planned = plan_scenario(
      *parse_scenario(k_small_model, "small.yaml",
                      std::vector<std::string>{k_lora, "parallel={strategy: fsdp1, use_orig_params: false}",
                                               "cluster.ranks=2", "train.micro_batch=4"}));
  REQUIRE_FALSE(planned);
  CHECK_THAT(to_string(planned.error()), contains_text("parallel.use_orig_params: false flattens"));
}

}  // namespace shardlab::test
