#include "engine/scenario/validate.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include <fmt/ranges.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/keys/kind.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/problems.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/unsupported.h"

namespace shardlab {

Status validate_scenario(const Scenario& scenario, const ScenarioSource& source) {
  Problems problems;
  Complaints complaints{scenario, source, problems};
  check_section(scenario_keys(), scenario, {}, source, problems);
  validate_model(complaints);
  validate_cluster(complaints);
  if (problems.empty()) validate_mesh(complaints);  // needs a number of ranks
  if (problems.empty()) validate_strategy(complaints);
  validate_parallel(complaints, "parallel", *scenario.parallel);
  validate_training(complaints);
  validate_offload(complaints);
  validate_precision(complaints);
  validate_distillation(complaints);
  return problems.status();
}

namespace {

// What is built, and not beside another setting of the scenario.
class Combinations {
 public:
  Combinations(const Scenario& scenario, const ScenarioSource& source, Problems& problems, bool teacher)
      : s_(scenario), source_(source), problems_(problems), teacher_(teacher) {}

  // What a teacher has of its own.
  void model_and_parallel() {
    loss();
    strategy();
    precision();
  }
  void rest() {
    refuse_unless(s_.cluster->device == DeviceKind::cpu || s_.launch->backend != CommunicationBackend::gloo,
                  "launch.backend", "gloo on GPUs", "nccl");
    offload();
  }

 private:
  void refuse_unless(bool supported, const std::string& given_key, const std::string& shown,
                     const std::string& nearest) {
    if (supported) return;
    const std::string key = teacher_ ? teacher_key(given_key) : given_key;
    problems_.add(source_.place(key), "not supported yet: " + shown, nearest_hint({{}, {}, nearest}));
  }

  void offload() {
    const StrategyFacts& facts = facts_of(s_);
    const std::string with = "cpu with " + strategy_name(s_);
    const std::string nearest = "offload.parameters: cpu with " + offloading_strategies();
    const bool parameters = s_.offload->parameters == OffloadTarget::cpu;
    const bool optimizer = s_.offload->optimizer != OffloadTarget::none;
    refuse_unless(!parameters || facts.offloads_parameters || !facts.why_no_parameter_offload.empty(),
                  "offload.parameters", with, nearest);
    refuse_unless(!optimizer || facts.offloads_optimizer || !facts.why_no_optimizer_offload.empty(),
                  "offload.optimizer", with, nearest);
    const bool any_memory = facts.loss_scaler != LossScaler::grad_scaler;
    refuse_unless(!(parameters || optimizer) || !scales_loss(s_) || any_memory, "offload",
                  "a scaled loss with gradients in host memory",
                  "precision.param: bfloat16, or scaler.enabled: false");
  }

  // Forward makes gradients of tokens before they can be scaled.
  void loss() {
    const ModelSpec& m = *s_.model;
    const bool half = m.dtype == DType::float16 || s_.precision->param == DType::float16;
    refuse_unless(m.loss.kind == LossKind::plain || m.loss.over != LossChunks::of_tokens || !half,
                  "model.loss.over", "tokens with float16", "vocabulary");
  }

  void strategy() {
    const auto not_built = facts_of(s_).not_built;
    if (not_built == nullptr) return;
    for (const NotBuilt& missing : not_built(s_))
      refuse_unless(false, missing.key, missing.shown, missing.nearest);
  }

  void precision() {
    const PrecisionSpec& p = *s_.precision;
    if (facts_of(s_).casts_units) return;
    const auto compute = [&](const std::string& key, std::optional<DType> dtype) {
      if (dtype)
        refuse_unless(*dtype == s_.model->dtype, key,
                      fmt::format("{} with strategy {}", to_string(*dtype), strategy_name(s_)),
                      fmt::format("model.dtype: {}", to_string(*dtype)));
    };
    compute("precision.param", p.param);
    compute("precision.reduce", p.reduce);
  }

  const Scenario& s_;
  const ScenarioSource& source_;
  Problems& problems_;
  const bool teacher_;
};

void refuse_values(const Scenario& scenario, const ScenarioSource& source, Problems& problems, bool teacher) {
  for (const UnsupportedUse& use : unsupported_uses(scenario)) {
    if (teacher && !is_key_of_teacher(use.key)) continue;
    const std::string key = teacher ? teacher_key(use.key) : use.key;
    problems.add(source.place(key), "not supported yet: " + use.shown, use.hint);
  }
}

}  // namespace

Status check_supported(const Scenario& scenario, const ScenarioSource& source) {
  Problems problems;
  refuse_values(scenario, source, problems, false);
  Combinations combinations(scenario, source, problems, false);
  combinations.model_and_parallel();
  combinations.rest();
  if (!scenario.distillation) return problems.status();
  const Scenario teacher = teacher_scenario(scenario);
  refuse_values(teacher, source, problems, true);
  Combinations(teacher, source, problems, true).model_and_parallel();
  return problems.status();
}

}  // namespace shardlab
