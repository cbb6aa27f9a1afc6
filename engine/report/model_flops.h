// FLOPs that training a model needs: what MFU counts, in this project's way and in PaLM's.
#pragma once

#include <optional>

#include "engine/base/units.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// What one rank computes in one step: matrix products and attention of both passes, causal attention counted
// half. What is recomputed does not count, nor do gradients that a strategy makes though no trained parameter
// needs them (require_gradients_by_unit in model/freeze.h): a step is no better used for doing what is of no
// use.
Flops model_flops_per_step(const PlannedScenario& planned);

// The same by the convention of PaLM (arXiv 2204.02311, appendix B): 6 N + 12 L h s a token, of N parameters,
// embeddings included and of experts those that a token uses, L layers, h = heads * head dimension and s
// tokens a sequence, causal attention counted whole. None where a part is frozen or a teacher is at work: the
// 6 stands for forward and both gradients of every weight.
std::optional<Flops> palm_flops_per_step(const PlannedScenario& planned);

}  // namespace shardlab
