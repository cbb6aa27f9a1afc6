#include <utility>

#include <fmt/core.h>

#include "engine/scenario/complaints.h"

namespace shardlab {
namespace {

void check_model(Complaints& c, const std::string& path, const ModelSpec& model) {
  c.require(!model.config.empty(), path + ".config", "a name in assets/models or the path of a config.json");
  c.require(model.sequence_length > 0, path + ".sequence_length");
  if (model.loss.kind == "chunked" && model.loss.chunks < 2)
    c.refuse(path + ".loss.chunks", "a chunked loss needs 2 chunks or more");
  const bool lora_without_rank = model.lora.rank == 0 && model.lora != LoraSpec{};
  c.require(!lora_without_rank, path + ".lora.rank");
  c.require(model.lora.rank == 0 || !model.lora.targets.empty(), path + ".lora.targets");
  const bool measured = model.moe.load == "measured";
  if (measured) c.require(!model.moe.measured.empty(), path + ".moe.measured", "the file that `shardlab run --save-load` wrote");
  if (!measured && !model.moe.measured.empty())
    c.refuse(path + ".moe.measured", "has no effect with load: " + model.moe.load, "set load: measured");
  if (model.quantized != "none" && model.lora.rank == 0) {
    c.refuse(path + ".quantized", "quantized weights are frozen, nothing would be trained", "add lora");
  }
}

}  // namespace

void validate_models(Complaints& c) {
  if (c.scenario.models.empty()) {
    check_model(c, "model", c.scenario.model);
    if (c.scenario.distillation) c.refuse("distillation", "needs `models` with a teacher and a student");
    return;
  }
  if (c.scenario.model != ModelSpec{}) c.refuse("models", "contradicts `model`", "give one of the two");
  for (const auto& [name, model] : c.scenario.models) {
    check_model(c, "models." + name, model.model);
    validate_parallel(c, "models." + name + ".parallel", model.parallel);
  }
  if (!c.scenario.distillation) {
    c.refuse("models", "several models are trained by `distillation` only, which is not given");
    return;
  }
  const DistillationSpec& distillation = *c.scenario.distillation;
  for (const auto& [key, name] : {std::pair{"distillation.teacher", distillation.teacher},
                                  {"distillation.student", distillation.student}}) {
    c.require(!name.empty(), key);
    if (!name.empty() && c.scenario.models.count(name) == 0)
      c.refuse(key, fmt::format("no '{}' among the models", name));
  }
  if (distillation.teacher == distillation.student) c.refuse("distillation.student", "is the teacher");
}

}  // namespace shardlab
