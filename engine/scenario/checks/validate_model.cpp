#include <fmt/ranges.h>

#include "engine/model/families/family.h"
#include "engine/model/model_config.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/expert_load.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// bitsandbytes packs weights in the dtype in which they are stored; what casts units would cast the bits.
// Under autocast a layer's input is cast to the dtype of its adapter (peft) and to the weight's.
void check_quantized(Complaints& c) {
  const ModelSpec& model = *c.scenario.model;
  const PrecisionSpec& precision = *c.scenario.precision;
  if (precision.param.value_or(model.dtype) != model.dtype)
    c.refuse("model.quantized",
             fmt::format("precision.param: {} would cast packed weights that are stored in {}",
                         to_string(*precision.param), to_string(model.dtype)),
             fmt::format("set model.dtype: {}", to_string(*precision.param)));
  if (precision.autocast && *precision.autocast != model.dtype)
    c.refuse("model.quantized",
             fmt::format("not supported yet: autocast to {} beside weights that are stored in {}",
                         to_string(*precision.autocast), to_string(model.dtype)),
             fmt::format("nearest that works: model.dtype: {}", to_string(*precision.autocast)));
}

// What Inductor makes of the loss excludes other ways of computing it.
void check_compiled(Complaints& c) {
  const ModelSpec& model = *c.scenario.model;
  const bool whole = model.compile == CompileScope::whole;
  if (model.loss.compiled && whole)
    c.refuse("model.loss.compiled", "has no effect: model.compile: whole covers the loss", "remove it");
  if (model.loss.compiled && model.loss.fused)
    c.refuse("model.loss.compiled", "a fused loss is one kernel already", "remove one of them");
  if (!model.loss.compiled && !whole) return;
  const std::string key = whole ? "model.compile" : "model.loss.compiled";
  const std::string instead = whole ? "model.compile: blocks" : "leave it out";
  if (c.scenario.distillation)
    c.refuse(key, "not supported yet: a compiled loss of a distillation", "nearest that works: " + instead);
  if (whole && model.loss.kind == LossKind::chunked)
    c.refuse(key, "not supported yet: whole with a chunked loss", "nearest that works: " + instead);
}

// How the loss of eager operators treats logits; torch.autocast makes them float32 anyway.
void check_eager_loss(Complaints& c) {
  const LossSpec& loss = c.scenario.model->loss;
  const bool shifts = loss.shift != LossShift::of_labels;
  if (loss.upcast && !shifts) return;
  const std::string key = shifts ? "model.loss.shift" : "model.loss.upcast";
  if (loss.fused || loss.compiled || c.scenario.model->compile == CompileScope::whole)
    c.refuse(key, "has no effect: a loss that is one kernel makes no copy of the logits",
             "remove one of them");
  if (!loss.upcast && c.scenario.precision->autocast)
    c.refuse("model.loss.upcast", "has no effect: torch.autocast computes the loss in float32", "remove it");
  if (c.scenario.distillation) c.refuse(key, "not supported yet beside a teacher", "remove it");
}

// For hints; nothing where the file cannot be read, which is told elsewhere.
std::optional<ModelConfig> config_of(const Complaints& c) {
  const auto file = resolve_model_config(c.scenario, *c.scenario.model);
  if (!file) return std::nullopt;
  auto config = ModelConfig::read(*file, c.scenario.model->overrides);
  return config ? std::optional(*std::move(config)) : std::nullopt;
}

std::string longest_sequence(const Complaints& c) {
  const auto config = config_of(c);
  const auto longest = config ? config->longest_sequence() : std::nullopt;
  return longest ? fmt::format("the model's own maximum is {}", *longest) : "";
}

std::string usual_targets(const Complaints& c) {
  const auto config = config_of(c);
  const Family* const family = config ? find_family(*config) : nullptr;
  return fmt::format(
      "{}[all-linear] takes every linear layer but the head",
      family != nullptr ? fmt::format("usual with {}: [{}]; ", family->model_type, family->adapted) : "");
}

}  // namespace

void validate_model(Complaints& c) {
  const ModelSpec& model = *c.scenario.model;
  c.require(!model.config.empty(), "model.config", "a name in assets/models or the path of a config.json");
  if (model.sequence_length <= 0 && !c.teacher)
    c.refuse("model.sequence_length", "is required", longest_sequence(c));
  if (model.loss.kind == LossKind::chunked && model.loss.chunks < 2)
    c.refuse("model.loss.chunks", "a chunked loss needs 2 chunks or more",
             "for example model.loss: {kind: chunked, chunks: 8}");
  if (model.loss.kind == LossKind::chunked && model.loss.place == LossPlace::outside)
    c.refuse("model.loss.place", "a chunked loss has the head in it, which is inside",
             "remove it, or use plain");
  if (model.loss.held_logits && model.loss.fused)
    c.refuse("model.loss.held_logits", "a fused loss writes the gradient over the logits",
             "remove one of them");
  if (model.loss.held_logits && c.scenario.distillation)
    c.refuse("model.loss.held_logits", "not supported yet beside a teacher, whose loss reads logits of both",
             "remove it");
  check_compiled(c);
  check_eager_loss(c);
  const bool lora_without_rank = model.lora.rank == 0 && model.lora != LoraSpec{};
  c.require(!lora_without_rank, "model.lora.rank");
  if (model.lora.rank != 0 && model.lora.targets.empty())
    c.refuse("model.lora.targets", "is required", usual_targets(c));
  const bool measured = model.moe.load.kind == MoeLoadKind::measured;
  if (measured)
    c.require(!model.moe.measured.empty(), "model.moe.measured",
              "the file that `shardlab run --save-load` wrote");
  if (!measured && !model.moe.measured.empty())
    c.refuse("model.moe.measured", "has no effect with load: " + to_text(model.moe.load),
             "set load: measured");
  if (model.quantized != Quantization::none && model.lora.rank == 0) {
    c.refuse("model.quantized", "quantized weights are frozen, nothing would be trained", "add lora");
  }
  if (model.quantized != Quantization::none) check_quantized(c);
}

// Mixed precision: what each framework can do, and what has no effect.

namespace {

// "fsdp2 and native".
std::string owners_of(std::string_view key) {
  return fmt::format("{}", fmt::join(strategies_that_accept(key), " and "));
}

void check_framework(Complaints& c) {
  const PrecisionSpec& p = *c.scenario.precision;
  const std::string& strategy = strategy_name(c.scenario);
  const StrategyFacts& facts = facts_of(strategy);
  const auto refuse = [&](const std::string& key, const std::string& why) {
    c.refuse(key, fmt::format("has no effect with strategy {}{}", strategy, why),
             "remove it, or use " + proposed_for(key));
  };
  if (p.keep_low_precision_grads && !accepts(facts, "precision.keep_low_precision_grads")) {
    c.refuse("precision.keep_low_precision_grads", "has no effect with strategy " + strategy,
             "it belongs to " + owners_of("precision.keep_low_precision_grads"));
  }
  if (p.output && !accepts(facts, "precision.output")) refuse("precision.output", ": it casts no outputs");
  if (p.buffer && *p.buffer != DType::float32 && !accepts(facts, "precision.buffer"))
    refuse("precision.buffer", ": it leaves buffers as they are");
  const bool casts_inputs = accepts(facts, "precision.cast_forward_inputs");
  if (p.cast_forward_inputs && !casts_inputs) refuse("precision.cast_forward_inputs", "");
  const bool single_units = !c.scenario.parallel->wrap.overrides.empty();
  if (p.cast_forward_inputs && casts_inputs && !p.param && !single_units) {
    c.refuse("precision.cast_forward_inputs", "has no effect without precision.param",
             "set precision.param, or remove it");
  }
  const WrapSpec& wrap = c.scenario.parallel->wrap;
  const bool alike = !single_units && wrap.ignored.empty() && (!p.output || p.output == p.param);
  if (p.cast_forward_inputs && casts_inputs && p.param && alike &&
      *p.cast_forward_inputs != facts.casts_inputs_by_default) {
    c.refuse("precision.cast_forward_inputs",
             "has no effect where all units compute in precision.param: nothing would be cast", "remove it");
  }
}

void check_unit_setting(Complaints& c, const std::string& key, const std::string& name) {
  const std::string& strategy = strategy_name(c.scenario);
  if (name == "precision.buffer") {
    c.refuse(key,
             "precision.buffer has no effect on single units: the rotary frequencies are one buffer for all",
             "set precision.buffer");
  }
  const StrategyFacts& facts = facts_of(strategy);
  if (name == "precision.output" && facts.casts_units && !accepts(facts, name)) {
    c.refuse(key,
             fmt::format("precision.output has no effect with strategy {}: it casts no outputs", strategy),
             fmt::format("use {}, or precision.cast_forward_inputs on the units that read them",
                         proposed_for(name)));
  }
  if (name == "reshard_after_forward" && !accepts(facts, "parallel.reshard_after_forward")) {
    c.refuse(key, "reshard_after_forward has no effect with strategy " + strategy,
             "it belongs to " + owners_of("parallel.reshard_after_forward"));
  }
}

}  // namespace

void validate_precision(Complaints& c) {
  check_framework(c);
  const std::vector<WrapOverride>& overrides = c.scenario.parallel->wrap.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const std::string key = fmt::format("parallel.wrap.overrides[{}].settings", i);
    for (const auto& [name, text] : overrides[i].settings) check_unit_setting(c, key, name);
  }
}

}  // namespace shardlab
