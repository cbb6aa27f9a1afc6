#include "engine/scenario/complaints.h"
#include "engine/scenario/expert_load.h"

namespace shardlab {

void validate_model(Complaints& c) {
  const ModelSpec& model = c.scenario.model;
  c.require(!model.config.empty(), "model.config", "a name in assets/models or the path of a config.json");
  c.require(model.sequence_length > 0 || c.teacher, "model.sequence_length");
  if (model.loss.kind == LossKind::chunked && model.loss.chunks < 2)
    c.refuse("model.loss.chunks", "a chunked loss needs 2 chunks or more");
  const bool lora_without_rank = model.lora.rank == 0 && model.lora != LoraSpec{};
  c.require(!lora_without_rank, "model.lora.rank");
  c.require(model.lora.rank == 0 || !model.lora.targets.empty(), "model.lora.targets");
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
}

}  // namespace shardlab
