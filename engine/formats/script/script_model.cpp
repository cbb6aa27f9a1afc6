#include <algorithm>

#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/script/script_units.h"
#include "engine/formats/tools/module_patterns.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_loss = R"py(

def next_token_loss(logits, labels, *_, **__):
    """The labels are one token further already."""
    return F.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
)py";

constexpr std::string_view k_weights = R"py(

def read_weights(path):
    path = pathlib.Path(path)
    files = set(json.loads(path.read_text())["weight_map"].values()) if path.suffix == ".json" else {path.name}
    return {name: tensor for file in sorted(files) for name, tensor in load_file(path.parent / file).items()}
)py";

constexpr std::string_view k_model = R"py(

def make_model(weights):
    config = AutoConfig.for_model(**MODEL | {"use_cache": False})
    model = AutoModelForCausalLM.from_config(config, dtype=@DTYPE@, attn_implementation="@ATTENTION@")
@FILL@@LOSS@@FROZEN@@CHECKPOINT@    return model.train()
)py";

constexpr std::string_view k_filled = R"py(    if weights:
        model.load_state_dict(read_weights(weights), strict=not config.tie_word_embeddings)
)py";

// Weights are those of the model as it is published, or of one with its adapters.
constexpr std::string_view k_adapt_and_fill = R"py(    tensors = read_weights(weights) if weights else {}
    has_adapters = any(".lora_" in name for name in tensors)
    if tensors and not has_adapters:
        model.load_state_dict(tensors, strict=not config.tie_word_embeddings)
    inject_adapter_in_model(LoraConfig(@ADAPTERS@), model)  # freezes the rest
    if has_adapters:
        model.load_state_dict(tensors, strict=not config.tie_word_embeddings)
)py";

constexpr std::string_view k_frozen = R"py(    for name, parameter in model.named_parameters():
        if re.fullmatch(FROZEN, name):
            parameter.requires_grad_(False)
)py";

// Outside the units, or where there are none, layers are checkpointed where they are made.
std::string checkpoint_line(const ExportSubject& subject) {
  return checkpoints_inside(subject) ? "    checkpoint_layers(model)\n" : "";
}

std::string fill_lines(const ModelSpec& model) {
  if (model.lora.rank == 0) return std::string(k_filled);
  return filled(k_adapt_and_fill, {{"ADAPTERS", adapter_arguments(model.lora)}});
}

// SDPA has no cap for scores, and transformers refuses it for models with one (5.23, modeling_gemma2.py
// _supports_sdpa).
std::string_view attention_of(const ExportSubject& subject) {
  const bool capped =
      std::any_of(subject.graph.operators.begin(), subject.graph.operators.end(), [](const Operator& op) {
        return op.type->category == OperatorCategory::attention &&
               op.attributes.get_or(attribute::k_soft_cap, 0) > 0;
      });
  const bool asked = subject.scenario.model->attention == AttentionKind::eager;
  return capped || asked ? "eager" : "sdpa";
}

}  // namespace

bool loss_inside(const ExportSubject& subject) {
  if (const auto& place = subject.scenario.model->loss.place) return *place == LossPlace::inside;
  if (!is_fsdp(subject)) return true;
  const auto units = script_units(subject);
  return !units || !units->root.settings.reshard_after_forward.frees(true);
}

bool fills_from_rank0(const ExportSubject& subject) {
  if (framework(subject) != Framework::fsdp2) return false;
  return subject.scenario.parallel->initialization != Initialization::cpu;
}

std::string torch_dtype(DType dtype) {
  return "torch." + std::string(to_string(dtype));
}

std::string script_model(const ExportSubject& subject) {
  const ModelSpec& model = *subject.scenario.model;
  const std::string own_loss =
      loss_inside(subject) ? "    model.loss_function = next_token_loss\n" : std::string();
  return std::string(k_loss) + std::string(k_weights) +
         filled(k_model, {{"DTYPE", torch_dtype(model.dtype)},
                          {"ATTENTION", std::string(attention_of(subject))},
                          {"FILL", fill_lines(model)},
                          {"LOSS", own_loss},
                          {"FROZEN", model.frozen.empty() ? "" : std::string(k_frozen)},
                          {"CHECKPOINT", checkpoint_line(subject)}});
}

}  // namespace shardlab
