#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "engine/base/parse.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {
namespace {

const Keys<LossSpec>& loss_keys() {
  static const Keys<LossSpec> keys{
      key("kind", &LossSpec::kind, kind::word<LossKind>(),
          "chunked: head and cross-entropy in one, over a part of the tokens or the vocabulary at a time"),
      only_with("kind", {LossKind::chunked},
                key("over", &LossSpec::over, kind::word<LossChunks>(),
                    "tokens: gradients are made in forward, with the logits of each part; "
                    "vocabulary: logits are made again in backward")),
      only_with("kind", {LossKind::chunked},
                key("chunks", &LossSpec::chunks, kind::integer(1, 65536), "parts they are cut into")),
      only_with(
          "kind", {LossKind::plain},
          key("fused", &LossSpec::fused, kind::boolean(),
              "with eager operators too the cross-entropy is one kernel that writes the gradient over the "
              "logits, as flash-attn's and Liger's")),
      only_with("kind", {LossKind::plain},
                key("compiled", &LossSpec::compiled, kind::boolean(),
                    "the cross-entropy of eager operators through torch.compile, as torchtitan and torchtune "
                    "do: it "
                    "keeps the logits as they are and two numbers a row")),
      only_with(
          "kind", {LossKind::plain},
          key("upcast", &LossSpec::upcast, kind::boolean(),
              "with eager operators the logits become float32 before the cross-entropy, as transformers' "
              "loss has it; false: a program that calls torch's cross_entropy with what the model "
              "returned")),
      only_with("kind", {LossKind::plain},
                key("shift", &LossSpec::shift, kind::word<LossShift>(),
                    "with eager operators, what is moved so that logits meet the next token's label; logits: "
                    "all but the last position is copied where there are several sequences, as transformers' "
                    "loss did before 4.49")),
      key("place", &LossSpec::place, kind::optional(kind::word<LossPlace>()),
          "inside the model's forward (labels are passed to it), or outside, by the training loop: "
          "whether hooks of the root come between forward and the loss, and what they gather and free",
          "inside; outside where the root frees its parameters after forward"),
      only_with(
          "kind", {LossKind::plain},
          key("held_logits", &LossSpec::held_logits,
              kind::optional(kind::dtype({DType::float32, DType::bfloat16, DType::float16})),
              "the program holds the logits in a variable while backward runs (outputs = model(...), then "
              "outputs.loss.backward()), in this dtype; transformers' Trainer does not",
              "nobody holds them")),
  };
  return keys;
}

const Keys<LoraSpec>& lora_keys() {
  static const Keys<LoraSpec> keys{
      key("rank", &LoraSpec::rank, kind::integer(1, 65536), "inner dimension of the adapters", "no adapters"),
      key("alpha", &LoraSpec::alpha, kind::number(0, 1e9, true),
          "scale: the adapter's output is multiplied by alpha / rank"),
      key("dropout", &LoraSpec::dropout, kind::fraction(0, 1), "of the adapter's input"),
      key("targets", &LoraSpec::targets, kind::texts(),
          "the linear layers that get an adapter: last names of their paths (q_proj), path patterns, "
          "all-linear, or peft-default (what peft chooses where its LoraConfig names none)"),
      key("modules_to_save", &LoraSpec::modules_to_save, kind::texts(),
          "ends of the paths of modules of which a copy is trained as a whole, the original being kept"),
  };
  return keys;
}

Result<std::vector<double>> read_shares(const YamlNode& node) {
  std::vector<double> shares;
  for (const YamlNode& item : node.items) {
    SHARDLAB_TRY(const std::string text, kind::bare_text(item, "a number"));
    SHARDLAB_TRY(const double share, parse_number(text));
    if (share < 0) return bad_input(item.place, "a share cannot be negative");
    shares.push_back(share);
  }
  if (shares.empty()) return bad_input({}, "an empty list of shares");
  return shares;
}

// A named distribution, or the share of each expert as a list of numbers.
Kind<MoeLoad> expert_load() {
  const Kind<MoeLoadKind> named = kind::word<MoeLoadKind>();
  return {named.type, named.values + ", or a list of shares",
          [named](const YamlNode& node, std::string_view name) -> Result<MoeLoad> {
            MoeLoad load;
            if (node.is_sequence()) {
              load.kind = MoeLoadKind::listed;
              SHARDLAB_TRY(load.shares, read_shares(node));
            } else {
              SHARDLAB_TRY(load.kind, named.read(node, name));
            }
            return load;
          },
          [named](const MoeLoad& load) {
            if (load.kind != MoeLoadKind::listed) return named.write(load.kind);
            std::vector<YamlNode> items;
            for (const double share : load.shares) items.push_back(yaml_scalar(nlohmann::json(share).dump()));
            return yaml_sequence(std::move(items));
          }};
}

const Keys<MoeSpec>& moe_keys() {
  static const Keys<MoeSpec> keys{
      key("load", &MoeSpec::load, expert_load(), "how tokens spread over experts in a prediction"),
      key("measured", &MoeSpec::measured, kind::text(),
          "with load: measured, the file that `run --save-load` wrote"),
      key("capacity", &MoeSpec::capacity, kind::optional(kind::number(0, 1e6, true)),
          "capacity factor; tokens beyond it are dropped"),
      key("auxiliary_loss", &MoeSpec::auxiliary_loss, kind::optional(kind::number(0)),
          "weight of the balancing loss of routers; 0: none",
          "config.json's router_aux_loss_coef with its output_router_logits, else 0"),
  };
  return keys;
}

// A length in tokens. "8k" is 8,000 wherever numbers are read and 8,192 to most who write it of a sequence:
// an answer for the other one would pass unnoticed, so it has to be said.
Kind<std::int64_t> tokens_kind() {
  Kind<std::int64_t> tokens = kind::long_integer(1, 1 << 28);
  tokens.read = [read = tokens.read](const YamlNode& node, std::string_view name) -> Result<std::int64_t> {
    SHARDLAB_TRY(const std::string text, kind::scalar_text(node));
    const bool in_thousands = text.ends_with('k') || text.ends_with('K');
    if (!in_thousands && !text.ends_with('M')) return read(node, name);
    std::string number = text.substr(0, text.size() - 1);
    number.erase(number.find_last_not_of(' ') + 1);
    const auto value = parse_number(number);
    if (!value) return read(node, name);
    const double decimal = *value * (in_thousands ? 1e3 : 1e6),
                 binary = *value * (in_thousands ? 0x1p10 : 0x1p20);
    return bad_input(
        {}, fmt::format("{} may be {:.0f} or {:.0f} tokens", text, decimal, binary),
        fmt::format("write the number, or {}{} for {:.0f}", number, in_thousands ? "Ki" : "Mi", binary));
  };
  return tokens;
}

}  // namespace

const Keys<ModelSpec>& model_keys() {
  static const Keys<ModelSpec> keys{
      key("config", &ModelSpec::config, kind::text(),
          "name in assets/models, or what the Hugging Face Hub calls such a model, or path of a config.json "
          "or of its folder",
          "required"),
      key("weights", &ModelSpec::weights, kind::text(), "path of safetensors (one file or an index)",
          "from train.seed"),
      key("dtype", &ModelSpec::dtype, kind::dtype({DType::float32, DType::bfloat16, DType::float16}),
          "of the stored parameters"),
      key("sequence_length", &ModelSpec::sequence_length, tokens_kind(),
          "tokens of one sequence; k and M are refused, which may mean either: 8000 or 8Ki", "required"),
      key("implementation", &ModelSpec::implementation, kind::word_or_absent<Implementation>(),
          "fused: our operators; eager: operator by operator as the transformers modules compute",
          "on GPUs eager where the model has that form, else fused"),
      key("attention", &ModelSpec::attention, kind::word<AttentionKind>(),
          "what computes attention; flash, flash3 and triton with eager operators: where the modules compute "
          "biases or a soft cap step by step (MPT, Falcon with alibi, Gemma 2) or hand sdpa a mask "
          "(windows), one kernel instead; a prediction's speed is that of flash attention 2, 3 or in Triton; "
          "efficient, math: that backend of sdpa; masked: sdpa is handed a mask, as batches with padding do; "
          "with all scores in memory eager, as transformers' "
          "attn_implementation, and unfused, as Megatron-LM without flash attention"),
      section("loss", &ModelSpec::loss, &loss_keys, "kind"),
      key("dropout", &ModelSpec::dropout, kind::optional(kind::fraction(0, 1)),
          "share of elements that are dropped in training, in place of all such shares of config.json "
          "(resid_pdrop, attention_dropout ...)",
          "as config.json says"),
      key("overrides", &ModelSpec::overrides, kind::json_map(),
          "fields of config.json to replace, by their own names"),
      key("frozen", &ModelSpec::frozen, kind::texts(),
          "path patterns of parameters, or of modules around them, that are not trained"),
      section("lora", &ModelSpec::lora, &lora_keys),
      section("moe", &ModelSpec::moe, &moe_keys),
      key("compile", &ModelSpec::compile, kind::word<CompileScope>(),
          "what torch.compile covers of eager operators: every layer by itself, or the model with its loss; "
          "real runs compute with our fused operators in the place of Inductor's kernels"),
      key("fp8", &ModelSpec::fp8, kind::word<Fp8Scaling>(), "scaling of float8 matrix products"),
      key("quantized", &ModelSpec::quantized, kind::word<Quantization>(),
          "storage of the frozen weights of linear layers: nf4 in four bits with a float32 scale for 64 of "
          "them "
          "(bitsandbytes), nf4_double with scales in eight bits (bnb_4bit_use_double_quant, torchao)"),
  };
  return keys;
}

// What of a model still means something where it only runs forward; the length of a sequence is the
// student's.
const Keys<TeacherSpec>& teacher_keys() {
  static const Keys<TeacherSpec> keys = [] {
    constexpr std::string_view k_of_a_teacher[] = {"config",    "weights",   "dtype", "implementation",
                                                   "attention", "overrides", "moe"};
    Keys<TeacherSpec> rows;
    for (const KeyRow& row : model_keys().table().rows) {
      if (std::find(std::begin(k_of_a_teacher), std::end(k_of_a_teacher), row.name) !=
          std::end(k_of_a_teacher))
        rows.add(lifted(&TeacherSpec::model, row));
    }
    rows.add(section("parallel", &TeacherSpec::parallel, &parallel_keys));
    rows.add(section("precision", &TeacherSpec::precision, &precision_keys));
    return rows;
  }();
  return keys;
}

const Keys<DistillationSpec>& distillation_keys() {
  static const Keys<DistillationSpec> keys{
      section("teacher", &DistillationSpec::teacher, &teacher_keys, "config"),
      key("temperature", &DistillationSpec::temperature, kind::number(0, 1e6, true),
          "T: both models' logits are divided by it"),
      key("weight", &DistillationSpec::weight, kind::fraction(0, 1),
          "w of loss = (1 - w) cross-entropy + w T^2 KL(teacher || student)"),
  };
  return keys;
}

}  // namespace shardlab
