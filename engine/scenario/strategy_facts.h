// What a scenario's checks, keys, mesh and units ask about a strategy, as data.
//
// Each strategy tells its facts in engine/strategies/<name>/<name>_facts.cpp, a file that is part of this
// library and may include what a scenario may; engine/strategies/strategy_list.h says which strategies there
// are. Nobody else compares the name of a strategy: who wants to know something about one adds a fact here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scenario/loss_scaler.h"

namespace shardlab {

struct Complaints;
struct ParallelSpec;
struct ResolvedMesh;
struct Scenario;

// A setting that is built, and not yet under this strategy.
struct NotBuilt {
  std::string key;      // "model.frozen"
  std::string shown;    // "frozen parameters with native"
  std::string nearest;  // that works
};

// An option of a strategy of which no value but the default is built.
struct UnsupportedKey {
  std::string_view key;      // "parallel.ddp.static_graph"
  std::string_view nearest;  // that works
};

// A word that people use for this strategy among others.
struct LooseName {
  std::string_view name;  // lower case: "fsdp"
  std::string_view with;  // what to set so that it is meant: "parallel.mesh.replicate above 1"; may be empty
};

// Whose program trains under a strategy.
enum class Framework : std::uint8_t {
  none,  // one process, nothing wraps the model
  ddp,
  fsdp1,
  fsdp2,
  deepspeed,
  shardlab,  // nobody's but ours
};

// Every default is what holds for most strategies; a name that nobody knows has the defaults.
struct StrategyFacts {
  Framework framework = Framework::none;
  int zero_stage = 0;  // under deepspeed
  // Dotted keys of `parallel` and `precision` that have an effect under this strategy while they have none
  // under others. A section stands for all of its keys; a key inside one makes the section known too.
  std::span<const std::string_view> keys = {};
  // Names that mean this strategy and no other, lower case; a scenario may write them.
  std::span<const std::string_view> aliases = {};
  // Names that may mean this strategy; a scenario that writes them is told so.
  std::span<const LooseName> loose_names = {};
  // Strategies that keep less of parameters, gradients and optimizer state on every rank, and that its users
  // would go to.
  std::span<const std::string_view> shards_more = {};
  // Parameters are grouped into units by parallel.wrap and gathered unit by unit.
  bool gathers_units = false;
  // Units are the modules that have parameters of their own, whatever parallel.wrap says.
  bool gathers_modules = false;
  // Units compute in precision.param and reduce in precision.reduce, whatever the stored dtype is.
  bool casts_units = false;
  // Gradients are reduced in every micro-batch, whatever train.sync says.
  bool reduces_every_micro_batch = false;
  // A full state dict gathers parameter by parameter; else unit by unit.
  bool saves_by_parameter = false;
  // A sharded state dict gathers every unit and copies the rank's own part out of it; else it hands out what
  // the rank holds.
  bool gathers_to_save_shards = false;
  // What precision.cast_forward_inputs is where it is not given.
  bool casts_inputs_by_default = true;
  // What scales a float16 loss. DeepSpeed's scalers leave the factor in the gradients until the optimizer's
  // float32 ones are multiplied, so that any dtype and any memory will do.
  LossScaler loss_scaler = LossScaler::grad_scaler;
  // The gradient scaler that people use with it and that divides float16 gradients too. Empty: GradScaler,
  // which refuses them in torch 2.11.
  std::string_view float16_scaler = {};
  // Why reshard_after_forward cannot be a number of ranks, after that number; empty: it can.
  std::string_view why_no_subgroups = {};
  // Why a distillation's teacher cannot be under it; empty: it can.
  std::string_view why_no_teacher = {};
  // Why several modules cannot be one unit (parallel.wrap.together); empty: they can.
  std::string_view why_no_joined_modules = {};
  // Why reshard_after_forward: true has no effect on the root; empty: it has one.
  std::string_view why_root_stays = {};
  // Parameters can lie in host memory, with their gradients and the optimizer's state
  // (offload.parameters: cpu); else, where the framework has no such option, why.
  bool offloads_parameters = false;
  std::string_view why_no_parameter_offload = {};
  // The optimizer's state can lie there alone (offload.optimizer: cpu); else, where the framework has no such
  // option, why.
  bool offloads_optimizer = false;
  std::string_view why_no_optimizer_offload = {};
  // It can lie on a drive (offload.optimizer: nvme).
  bool swaps_optimizer = false;
  // Gradients are copied into a bucket one by one, each with a kernel of its own.
  bool copies_each_gradient = false;
  // What reduces gradients is C++ within autograd's thread; else hooks in Python.
  bool reduces_in_cpp = false;
  // Whether hints that propose another strategy name this one.
  bool proposed = true;
  // Whether every rank holds the whole state, so that a mesh left open replicates. Null: it shards.
  bool (*replicates)(const ParallelSpec& parallel) = nullptr;
  // Complaints about the number of ranks and the mesh as it is written, before it is resolved; may be null.
  void (*check_ranks)(Complaints& complaints, int ranks) = nullptr;
  // Complaints about its settings beside a valid mesh; may be null.
  void (*check)(Complaints& complaints, const ResolvedMesh& mesh) = nullptr;
  // Gradients are final within backward, as soon as it has written or reduced them: an optimizer may step
  // then, unit by unit, or, where units are not gathered, module by module.
  bool updates_in_backward = false;

  // Options of its own that are not built yet (engine/scenario/unsupported.h).
  std::span<const UnsupportedKey> unsupported = {};
  // What works and is nearest to it, where it has no schedule yet.
  std::string_view nearest_built = {};
  // Which of the scenario's settings are not built yet for this strategy; may be null.
  std::vector<NotBuilt> (*not_built)(const Scenario& scenario) = nullptr;
  // Which of them are predicted, and not run yet; may be null.
  std::vector<NotBuilt> (*not_run)(const Scenario& scenario) = nullptr;
};

struct KnownStrategy {
  std::string_view name;
  const StrategyFacts* facts;  // never null, lives as long as the program
  bool built;                  // there is a schedule for it
};

// All of strategy_list.h, in its order.
std::span<const KnownStrategy> known_strategies();

// The strategy that a name or an alias means, upper or lower case; none when it means none or several.
std::optional<std::string> strategy_called(std::string_view name);

// For a name that strategy_called() does not know: what it may mean, or the nearest of the names.
std::string strategy_hint(std::string_view name);

// The facts of the strategy of this name, the defaults where there is none.
const StrategyFacts& facts_of(std::string_view strategy);
const StrategyFacts& facts_of(const Scenario& scenario);  // those of its own strategy

// `parallel.strategy`.
const std::string& strategy_name(const Scenario& scenario);

// Whether a key, or something below it, has an effect under a strategy with these facts.
bool accepts(const StrategyFacts& facts, std::string_view key);

// Whether every rank holds the whole state under these settings.
bool replicates_state(const ParallelSpec& parallel);
bool replicates_state(const Scenario& scenario);

// Names, in the order of the list.
std::vector<std::string> strategy_names();
std::vector<std::string> built_strategies();
std::vector<std::string> teacher_strategies();
std::vector<std::string> strategies_that_accept(std::string_view key);

// "fsdp2, native: text", for the help of a key that only these accept.
std::string of_strategies(std::string_view key, std::string_view text);

// "fsdp1 or fsdp2": those that can keep parameters in host memory.
std::string offloading_strategies();

// "fsdp2": those that hints propose and whose units may be several modules.
std::string proposed_for_joined_modules();

// "fsdp1 or fsdp2": those of strategies_that_accept() that hints propose.
std::string proposed_for(std::string_view key);

}  // namespace shardlab
