// Choices of a scenario that the model itself knows, with their words.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

// Which description of the memory-bound operators is used: ours, or what the transformers modules compute
// operator by operator.
enum class Implementation : std::uint8_t { fused, eager };
template <>
inline constexpr auto k_words<Implementation> =
    std::to_array<Word<Implementation>>({{Implementation::fused, "fused"}, {Implementation::eager, "eager"}});

// What attention is computed by: what the modules of transformers ask for by default; one fused kernel; the
// same kernel as by default, handed a mask; what they ask for with attn_implementation "eager"; the formula
// of scaled_dot_product_attention; two products with one kernel between them, as Megatron-LM's.
enum class AttentionForm : std::uint8_t { of_modules, one_kernel, masked, stepped, formula, unfused };

// What torch.compile covers of a model with eager operators: nothing, every repeated layer by itself, or the
// model with its loss.
enum class CompileScope : std::uint8_t { none, blocks, whole };
template <>
inline constexpr auto k_words<CompileScope> = std::to_array<Word<CompileScope>>(
    {{CompileScope::none, "none"}, {CompileScope::blocks, "blocks"}, {CompileScope::whole, "whole"}});

// How matrix products in float8 scale their operands: one scale for a tensor or one for a row. `none`: no
// product is in float8.
enum class Fp8Scaling : std::uint8_t { none, tensorwise, rowwise };
template <>
inline constexpr auto k_words<Fp8Scaling> = std::to_array<Word<Fp8Scaling>>(
    {{Fp8Scaling::none, "none"}, {Fp8Scaling::tensorwise, "tensorwise"}, {Fp8Scaling::rowwise, "rowwise"}});

// How frozen weights of linear layers are stored. `nf4`: four bits an element and a float32 scale for 64 of
// them (bitsandbytes' Linear4bit); `nf4_double`: those scales in eight bits, a float32 scale for 256 of them
// (bnb_4bit_use_double_quant; torchao's NF4Tensor).
enum class Quantization : std::uint8_t { none, nf4, nf4_double, int8 };
template <>
inline constexpr auto k_words<Quantization> =
    std::to_array<Word<Quantization>>({{Quantization::none, "none"},
                                       {Quantization::nf4, "nf4"},
                                       {Quantization::nf4_double, "nf4_double"},
                                       {Quantization::int8, "int8"}});

// What moves by one position, so that a token's logits meet the token after it: the labels, or the logits, of
// which all but the last position are copied.
enum class LossShift : std::uint8_t { of_labels, of_logits };
template <>
inline constexpr auto k_words<LossShift> = std::to_array<Word<LossShift>>({{LossShift::of_labels, "labels"},
                                                                           {LossShift::of_logits, "logits"}});

// How the cross-entropy of eager operators treats what the model returned. transformers' (5.23) upcasts.
struct EagerLoss {
  bool as_logits = false;  // in the logits' dtype
  LossShift shift = LossShift::of_labels;
};

// What a chunked loss cuts into parts.
enum class LossChunks : std::uint8_t { of_tokens, of_vocabulary };
template <>
inline constexpr auto k_words<LossChunks> = std::to_array<Word<LossChunks>>(
    {{LossChunks::of_tokens, "tokens"}, {LossChunks::of_vocabulary, "vocabulary"}});

}  // namespace shardlab
