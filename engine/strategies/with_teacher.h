// Which strategies schedule a run: the student's, and, with a distillation, the teacher's beside it.
//
// Mirrored is the loop that people write:
//
//   with torch.no_grad(): teacher_logits = teacher(tokens)
//   loss = distillation_loss(student(tokens), targets, teacher_logits); loss.backward()
//
// so that in every micro-batch the teacher's forward comes first: its gathered units are gone before the
// student keeps anything for backward, and only its logits stay until the student's backward has read them.
// Each model has streams of its own, as two fully_shard or FSDP roots have; ranks that lie on the mesh in the
// same way for both share their communicators, as two meshes over the default process group do.
#pragma once

#include <memory>
#include <optional>

#include "engine/base/result.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

struct RunStrategies {
  StrategyType type;                // of the model that is trained
  std::optional<Scenario> teacher;  // teacher_scenario(), which the strategy refers to
  std::optional<StrategyType> teacher_type;

  // Neither the scenario nor this may go before the strategy does.
  std::unique_ptr<Strategy> make(StepBuilder& builder, const Scenario& scenario) const;
};

// bad_input for a strategy that is not there.
Result<RunStrategies> find_run_strategies(const Scenario& scenario);

}  // namespace shardlab
