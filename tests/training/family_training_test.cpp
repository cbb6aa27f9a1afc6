// Every family, and every variant of one, trains the same on one rank and on two, with and without activation
// checkpointing.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/training/family_scenario.h"
#include "tests/training/local_run.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 3;
constexpr double k_limit = 2e-6;  // of the largest element of each tensor

Trained train_family(const FamilyCase& family, std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), family.overrides.begin(), family.overrides.end());
  Result<Trained> trained = train(planned_text(family.scenario, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

const std::vector<std::vector<std::string>> k_ways = {
    {"parallel.strategy=ddp", "cluster.ranks=2", "train.micro_batch=2"},
    {"parallel.strategy=fsdp1", "cluster.ranks=2", "train.micro_batch=2", "activation.checkpoint=full"},
    {"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=2"},
    {"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=1", "train.accumulation=2",
     "activation={checkpoint: full, placement: outside}"},
};

// Gradients that are zero but for rounding (biases of keys, which the softmax does not see) have no relative
// error.
WorstTensor worst_gradient(const Trained& sharded, const Trained& whole) {
  double scale = 0;
  for (const auto& [name, gradient] : whole.gradients)
    scale = std::max(scale, gradient.abs().max().item<double>());
  NamedTensors ours = sharded.gradients, theirs = whole.gradients;
  for (const auto& [name, gradient] : whole.gradients) {
    if (gradient.abs().max().item<double>() > 1e-6 * scale) continue;
    CHECK(sharded.gradients.at(name).abs().max().item<double>() <= 1e-6 * scale);
    ours.erase(name);
    theirs.erase(name);
  }
  return worst_difference(ours, theirs);
}

void compare_ways(const FamilyCase& family) {
  const std::string& name = family.name;
  const std::vector<std::string> halves{"train.micro_batch=2", "train.accumulation=2"};
  const Trained whole = train_family(family, family.by_micro_batch ? halves : std::vector<std::string>{});
  REQUIRE(worst_difference(whole.parameters, whole.initial).difference > 1e-3);
  WorstTensor gradients, parameters;
  for (const std::vector<std::string>& way : k_ways) {
    const bool quarters = std::find(way.begin(), way.end(), "train.micro_batch=1") != way.end();
    if (family.by_micro_batch && quarters) continue;
    const Trained sharded = train_family(family, way);
    INFO(name << " " << way.front());
    CHECK(bitwise_equal(sharded.initial, whole.initial));
    const WorstTensor gradient = worst_gradient(sharded, whole);
    const WorstTensor parameter = worst_difference(sharded.parameters, whole.parameters);
    INFO(gradient.name << ", " << parameter.name);
    CHECK(gradient.difference <= k_limit);
    CHECK(parameter.difference <= k_limit);
    if (gradient.difference >= gradients.difference) gradients = gradient;
    if (parameter.difference >= parameters.difference) parameters = parameter;
  }
  fmt::print("{:<20} {} ways: gradients {:.1e} ({}), parameters {:.1e}\n", name, k_ways.size(),
             gradients.difference, gradients.name, parameters.difference);
}

}  // namespace

TEST_CASE("every family trains sharded as unsharded, checkpointed or not") {
  for (const FamilyCase& family : family_cases()) compare_ways(family);
}

// Those whose modules have attention of their own; Mpt's keeps other tensors with one sequence than with
// several.
TEST_CASE("eager attention trains sharded as unsharded, checkpointed or not") {
  for (FamilyCase family : family_cases()) {
    if (family.name != "mpt" && !family.name.starts_with("falcon")) continue;
    family.name += ", eager";
    family.overrides.emplace_back("model.implementation=eager");
    compare_ways(family);
  }
}

// Flat shards give each rank other parts of parameters, of frozen ones too: the rank that needs most for the
// optimizer's temporaries need not be the first.
TEST_CASE("optimizers without fused kernels train every family in flat shards") {
  for (const FamilyCase& family : family_cases()) {
    const bool has_adapters = family.name.find("lora") != std::string::npos;
    for (const char* strategy : {"fsdp1", "native"}) {
      if (has_adapters && std::string(strategy) == "native") continue;  // not supported
      std::vector<std::string> settings{std::string("parallel.strategy=") + strategy, "cluster.ranks=2",
                                        "train.micro_batch=1", "train.weight_decay=0.1"};
      const Trained fused = train_family(family, settings);
      for (const char* implementation : {"foreach", "loop"}) {
        INFO(family.name << " " << strategy << " " << implementation);
        settings.push_back(std::string("train.optimizer_implementation=") + implementation);
        CHECK(worst_difference(train_family(family, settings).parameters, fused.parameters).difference <=
              k_limit);
        settings.pop_back();
      }
    }
  }
}

}  // namespace shardlab::test
