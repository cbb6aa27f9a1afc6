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
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/problems.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/train_spec.h"

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
  validate_precision(complaints);
  validate_distillation(complaints);
  return problems.status();
}

namespace {

class Support {
 public:
  Support(const Scenario& scenario, const ScenarioSource& source, Problems& problems, bool teacher = false)
      : s_(scenario), source_(source), problems_(problems), teacher_(teacher) {}

  void check_all() {
    model_and_parallel();
    cluster();
    train();
    rest();
    if (!s_.distillation) return;
    const Scenario teacher = teacher_scenario(s_);
    Support(teacher, source_, problems_, true).model_and_parallel();
  }

 private:
  void model_and_parallel() {
    model();
    parallel();
    precision();
  }

  // Refuses `shown` at the key unless it is supported.
  void need(bool supported, const std::string& given_key, const std::string& shown,
            const std::string& hint = {}) {
    const std::string key = teacher_ ? teacher_key(given_key) : given_key;
    if (!supported) problems_.add(source_.place(key), "not supported yet: " + shown, hint);
  }

  template <WordEnum E>
  void need_word(E value, const std::string& key, std::initializer_list<E> built,
                 const std::string& hint = {}) {
    const bool supported = std::find(built.begin(), built.end(), value) != built.end();
    need(supported, key, std::string(to_string(value)), hint);
  }

  void model() {
    const ModelSpec& m = *s_.model;
    need_word(m.attention, "model.attention", {AttentionKind::automatic});
    const bool half = m.dtype == DType::float16 || s_.precision->param == DType::float16;
    need(m.loss.kind == LossKind::plain || m.loss.over != LossChunks::of_tokens || !half, "model.loss.over",
         "tokens with float16", "forward makes gradients before they can be scaled: use vocabulary");
    need(m.dropout == 0, "model.dropout", fmt::format("{}", m.dropout));
    need(m.lora.dropout == 0, "model.lora.dropout", fmt::format("{}", m.lora.dropout));
    need(!m.moe.capacity, "model.moe.capacity", "a capacity", "no token is dropped");
    need_word(m.compile, "model.compile", {CompileScope::none});
    need_word(m.fp8, "model.fp8", {Fp8Scaling::none});
    need_word(m.quantized, "model.quantized", {Quantization::none});
  }

  void cluster() {
    const ClusterSpec& c = *s_.cluster;
    need(c.allocator_conf.empty(), "cluster.allocator.conf", c.allocator_conf);
    need(c.nvme == NvmeSpec{}, "cluster.nvme", "drives");
    need(c.host == HostSpec{}, "cluster.host", "a described host");
  }

  static std::string nearest_of(const StrategyFacts& facts) {
    return facts.nearest_built.empty() ? "" : std::string(facts.nearest_built) + "; ";
  }

  void parallel() {
    const ParallelSpec& p = *s_.parallel;
    const std::vector<std::string> built = built_strategies();
    need(std::find(built.begin(), built.end(), p.strategy) != built.end(), "parallel.strategy", p.strategy,
         fmt::format("{}supported: {}", nearest_of(facts_of(p.strategy)),
                     fmt::join(teacher_ ? teacher_strategies() : built, ", ")));
    if (const auto not_built = facts_of(p.strategy).not_built; not_built != nullptr) {
      for (const NotBuilt& missing : not_built(s_)) need(false, missing.key, missing.shown, missing.hint);
    }
    const ResolvedMesh mesh = resolve_mesh(s_);
    need(mesh.tensor == 1, "parallel.mesh.tensor", std::to_string(mesh.tensor));
    need(mesh.expert == 1, "parallel.mesh.expert", std::to_string(mesh.expert));
    for (std::size_t i = 0; i < p.wrap.overrides.size(); ++i) {
      const std::string key = fmt::format("parallel.wrap.overrides[{}].settings", i);
      for (const auto& [name, text] : p.wrap.overrides[i].settings) {
        need(name.starts_with("precision.") || name == "reshard_after_forward", key,
             name + " of single units");
      }
    }
    need(!p.sync_module_states, "parallel.sync_module_states", "true",
         "leave it out: every rank makes its part of the same parameters");
    need_word(p.initialization, "parallel.initialization", {Initialization::meta});
  }

  void precision() {
    const PrecisionSpec& p = *s_.precision;
    const bool casts = facts_of(s_.parallel->strategy).casts_units;
    const auto compute = [&](const std::string& key, std::optional<DType> dtype) {
      if (!dtype) return;
      const std::string name(to_string(*dtype));
      if (!casts)
        need(*dtype == s_.model->dtype, key, fmt::format("{} with strategy {}", name, s_.parallel->strategy),
             "set model.dtype");
    };
    compute("precision.param", p.param);
    compute("precision.reduce", p.reduce);
    need(!p.keep_low_precision_grads, "precision.keep_low_precision_grads", "true");
    need(!p.autocast, "precision.autocast", "autocast");
  }

  void train() {
    const TrainSpec& t = *s_.train;
    const std::initializer_list<Optimizer> optimizers{Optimizer::adamw, Optimizer::adam, Optimizer::sgd};
    need_word(t.optimizer, "train.optimizer", optimizers,
              "supported: " + kind::joined(words_of<Optimizer>(optimizers)));
    need(!t.nan_check, "train.nan_check", "true");
    need(t.data_workers == 0, "train.data_workers", std::to_string(t.data_workers));
    need(t.pin_batches, "train.pin_batches", "false");
    need(t.evaluation == EvaluationSpec{}, "train.evaluation", "evaluation");
    need(t.save == SaveSpec{}, "train.save", "saving");
    need(t.epochs == 0, "train.epochs", std::to_string(t.epochs), "measure.steps is the length of a run");
    need(t.steps == 0, "train.steps", std::to_string(t.steps), "measure.steps is the length of a run");
  }

  void rest() {
    const ActivationSpec& a = *s_.activation;
    need_word(a.offload, "activation.offload", {OffloadTarget::none});
    need(!a.partition, "activation.partition", "true");
    need(*s_.offload == OffloadSpec{}, "offload", "offload of parameters or optimizer state");
    need(*s_.checkpoint == CheckpointSpec{}, "checkpoint", "checkpoints");
    need(s_.cluster->device == DeviceKind::cpu || s_.launch->backend != CommunicationBackend::gloo,
         "launch.backend", "gloo on GPUs", "use nccl");
    need(*s_.limits == LimitsSpec{}, "limits", "constraints of a search");
  }

  const Scenario& s_;
  const ScenarioSource& source_;
  Problems& problems_;
  const bool teacher_;
};

}  // namespace

Status check_supported(const Scenario& scenario, const ScenarioSource& source) {
  Problems problems;
  Support(scenario, source, problems).check_all();
  return problems.status();
}

}  // namespace shardlab
