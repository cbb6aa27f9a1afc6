// The model that a scenario describes, as a graph: before units, precision and strategy.
#pragma once

#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/model/model_config.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Reads the config.json that `model.config` names and applies what the scenario says about the model:
// experts' load, adapters, loss, frozen parameters. bad_input at the key that does not fit this model or its
// file.
Result<ModelGraph> load_model_graph(const Scenario& scenario);

// The config.json that `model.config` names, with the scenario's overrides.
Result<ModelConfig> read_model_config(const Scenario& scenario);

// make(scenario); where the scenario leaves the implementation open and the model turns out to have no eager
// form, make() of the scenario with fused operators.
template <typename T, typename F>
Result<T> with_form_of_model(const Scenario& scenario, F&& make) {
  Result<T> made = make(scenario);
  if (made || made.error().code != ErrorCode::no_eager_form) return made;
  const std::optional<Scenario> fused = with_implementation(scenario, Implementation::fused);
  return fused ? make(*fused) : std::move(made);
}

}  // namespace shardlab
