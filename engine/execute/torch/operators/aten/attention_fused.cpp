#include "engine/execute/torch/operators/aten/attention_fused.h"

#include <ATen/ops/_efficient_attention_backward.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <limits>
#include <optional>

#include "engine/execute/torch/operators/aten/memory_exchange.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_widest_flash_head = 256, k_flash_head_multiple = 8;
// Elements of a head that the efficient kernel reads at once: of float32, and of half as many bytes.
constexpr std::int64_t k_efficient_float_multiple = 4, k_efficient_half_multiple = 8;
constexpr std::int64_t k_cudnn_backend = 3;  // sdp::SDPBackend::cudnn_attention of torch
// custom_mask_type: sdp::CustomMaskType of torch.
constexpr std::int64_t k_no_custom_mask = 0, k_causal_from_top_left = 1;
constexpr std::int64_t k_mask_alignment = 16;  // elements of a row; SDPA pads a copy to it
constexpr std::int64_t k_sum_alignment = 32;   // rows of log-sum-exp in the efficient kernel are padded to it

// [batch, sequence, heads, head_dim]. Copied where groups of query heads lie apart.
at::Tensor heads_of(const at::Tensor& grouped) {
  return grouped.flatten(2, 3);
}

// Keys a query sees to its left, as the kernels count them.
std::optional<std::int64_t> left_of(const AttentionSettings& settings) {
  return settings.window > 0 ? std::optional(settings.window - 1) : std::nullopt;
}

std::optional<std::int64_t> right_of(const AttentionSettings& settings) {
  return settings.window > 0 ? std::optional<std::int64_t>(0) : std::nullopt;
}

// What a kernel is told of the scores that are hidden.
std::optional<at::Tensor> mask_of(const AttentionSettings& settings) {
  return settings.mask.defined() ? std::optional(settings.mask) : std::nullopt;
}
std::int64_t mask_type(const AttentionSettings& settings) {
  return settings.mask.defined() ? k_no_custom_mask : k_causal_from_top_left;
}

// Random state of a dropout of 0.
at::Tensor no_random_state(const at::Tensor& like, at::ScalarType dtype) {
  return at::empty({2}, like.options().dtype(dtype));
}

struct Results {
  at::Tensor q, k, v;  // [batch, sequence, heads, head_dim]
};

// cuDNN and SDPA see [batch, heads, sequence, head_dim], in the same memory.
at::Tensor by_heads(const at::Tensor& x) {
  return x.transpose(1, 2);
}

// Whether torch takes cuDNN's kernel for these on this device: by its version, the GPU, heads and switches.
bool torch_takes_cudnn(const AttentionSettings& settings, const AttentionViews& in) {
  return at::_fused_sdp_choice(by_heads(heads_of(in.q)), by_heads(in.k), by_heads(in.v), mask_of(settings),
                               /*dropout_p=*/0, /*is_causal=*/!settings.mask.defined(), settings.scale,
                               /*enable_gqa=*/settings.queries_per_key() > 1) == k_cudnn_backend;
}

bool efficient_has_head(const AttentionSettings& settings, const at::Tensor& q) {
  return settings.head_dim %
             (q.scalar_type() == at::kFloat ? k_efficient_float_multiple : k_efficient_half_multiple) ==
         0;
}

void cudnn_forward(const AttentionSettings& settings, const AttentionViews& in, MemoryExchange& output,
                   const at::Tensor& log_sum_exp) {
  const auto made = at::_scaled_dot_product_cudnn_attention(
      by_heads(heads_of(in.q)), by_heads(in.k), by_heads(in.v), mask_of(settings),
      /*compute_log_sumexp=*/true, /*dropout_p=*/0, /*is_causal=*/!settings.mask.defined(),
      /*return_debug_mask=*/false, settings.scale);
  log_sum_exp.copy_(std::get<1>(made).view(log_sum_exp.sizes()));
  output.take(by_heads(std::get<0>(made)));
}

Results cudnn_backward(const AttentionSettings& settings, const AttentionViews& in, const at::Tensor& output,
                       const at::Tensor& log_sum_exp, const at::Tensor& d_output) {
  const at::Tensor q = heads_of(in.q);
  const std::int64_t sequence = q.size(1);
  auto [dq, dk, dv] = at::_scaled_dot_product_cudnn_attention_backward(
      by_heads(d_output.view(q.sizes())), by_heads(q), by_heads(in.k), by_heads(in.v),
      by_heads(output.view(q.sizes())), log_sum_exp.unsqueeze(-1), no_random_state(q, at::kLong),
      no_random_state(q, at::kLong), settings.mask, /*cum_seq_q=*/{}, /*cum_seq_k=*/{}, sequence, sequence,
      /*dropout_p=*/0, /*is_causal=*/!settings.mask.defined(), settings.scale);
  return {by_heads(dq), by_heads(dk), by_heads(dv)};
}

// The efficient kernel has one key head for each query head.
at::Tensor repeated(const at::Tensor& x, std::int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, 2);
}
at::Tensor summed(const at::Tensor& x, std::int64_t times) {
  return times == 1 ? x : x.unflatten(2, {x.size(2) / times, times}).sum(3);
}

Results flash_backward(const AttentionSettings& settings, const AttentionViews& in, const at::Tensor& output,
                       const at::Tensor& log_sum_exp, const at::Tensor& d_output) {
  const at::Tensor q = heads_of(in.q);
  const std::int64_t sequence = q.size(1);
  auto [dq, dk, dv] = at::_flash_attention_backward(
      d_output.view(q.sizes()), q, in.k, in.v, output.view(q.sizes()), log_sum_exp, /*cum_seq_q=*/{},
      /*cum_seq_k=*/{}, sequence, sequence, /*dropout_p=*/0, /*is_causal=*/true,
      no_random_state(q, at::kUInt64), no_random_state(q, at::kUInt64), settings.scale, left_of(settings),
      right_of(settings));
  return {std::move(dq), std::move(dk), std::move(dv)};
}

Results efficient_backward(const AttentionSettings& settings, const AttentionViews& in,
                           const at::Tensor& output, const at::Tensor& log_sum_exp,
                           const at::Tensor& d_output) {
  const at::Tensor q = heads_of(in.q);
  const std::int64_t sequence = q.size(1), times = settings.queries_per_key();
  const std::int64_t padded = (sequence + k_sum_alignment - 1) / k_sum_alignment * k_sum_alignment;
  const at::Tensor sums = at::full({q.size(0), settings.heads, padded},
                                   std::numeric_limits<float>::infinity(), log_sum_exp.options());
  sums.narrow(2, 0, sequence).copy_(log_sum_exp);
  auto [dq, dk, dv, d_bias] = at::_efficient_attention_backward(
      d_output.view(q.sizes()), q, repeated(in.k, times), repeated(in.v, times), mask_of(settings),
      output.view(q.sizes()),
      /*cu_seqlens_q=*/{}, /*cu_seqlens_k=*/{}, sequence, sequence, sums, /*dropout_p=*/0,
      no_random_state(q, at::kLong), no_random_state(q, at::kLong), mask_type(settings),
      /*bias_requires_grad=*/false, settings.scale);
  return {std::move(dq), summed(dk, times), summed(dv, times)};
}

}  // namespace

FusedAttention fused_attention(const AttentionSettings& settings, const AttentionViews& in) {
  const at::Tensor& q = in.q;
  if (!q.is_cuda() || settings.bias.defined() || settings.soft_cap > 0) return FusedAttention::none;
  const bool half = q.scalar_type() != at::kFloat;
  if (settings.mask.defined() && half && torch_takes_cudnn(settings, in)) return FusedAttention::cudnn;
  if (settings.mask.defined())
    return settings.mask.size(3) % k_mask_alignment == 0 && efficient_has_head(settings, q)
               ? FusedAttention::efficient
               : FusedAttention::none;
  if (!half)
    return settings.window == 0 && efficient_has_head(settings, q) ? FusedAttention::efficient
                                                                   : FusedAttention::none;
  if (settings.window == 0 && torch_takes_cudnn(settings, in)) return FusedAttention::cudnn;
  const bool fits =
      settings.head_dim % k_flash_head_multiple == 0 && settings.head_dim <= k_widest_flash_head;
  return fits ? FusedAttention::flash : FusedAttention::none;
}

void attention_fused_forward(FusedAttention kernel, const AttentionSettings& settings,
                             const AttentionViews& in, const at::Tensor& output,
                             const at::Tensor& log_sum_exp) {
  const at::Tensor q = heads_of(in.q);
  const std::int64_t sequence = q.size(1), times = settings.queries_per_key();
  MemoryExchange exchange(output);
  if (kernel == FusedAttention::cudnn) return cudnn_forward(settings, in, exchange, log_sum_exp);
  if (kernel == FusedAttention::flash) {
    const auto made = at::_flash_attention_forward(q, in.k, in.v, /*cum_seq_q=*/{}, /*cum_seq_k=*/{},
                                                   sequence, sequence, /*dropout_p=*/0,
                                                   /*is_causal=*/true, /*return_debug_mask=*/false,
                                                   settings.scale, left_of(settings), right_of(settings));
    log_sum_exp.copy_(std::get<1>(made));
    exchange.take(std::get<0>(made));
    return;
  }
  const auto made = at::_efficient_attention_forward(
      q, repeated(in.k, times), repeated(in.v, times), mask_of(settings), /*cu_seqlens_q=*/{},
      /*cu_seqlens_k=*/{}, sequence, sequence, /*dropout_p=*/0, mask_type(settings),
      /*compute_log_sumexp=*/true, settings.scale);
  log_sum_exp.copy_(std::get<1>(made).narrow(2, 0, sequence));
  exchange.take(std::get<0>(made));
}

void attention_fused_backward(FusedAttention kernel, const AttentionSettings& settings,
                              const AttentionViews& in, const at::Tensor& output,
                              const at::Tensor& log_sum_exp, const at::Tensor& d_output,
                              const AttentionViews& gradients, std::span<const at::Tensor> wanted) {
  const auto make = kernel == FusedAttention::cudnn   ? cudnn_backward
                    : kernel == FusedAttention::flash ? flash_backward
                                                      : efficient_backward;
  if (wanted.size() < 3) {  // in one
    const Results made = make(settings, in, output, log_sum_exp, d_output);
    if (!gradients.q.defined()) return;
    gradients.q.copy_(made.q.view(gradients.q.sizes()));
    gradients.k.copy_(made.k);
    gradients.v.copy_(made.v);
    return;
  }
  MemoryExchange dq(wanted[0]), dk(wanted[1]), dv(wanted[2]);
  const Results made = make(settings, in, output, log_sum_exp, d_output);
  dq.take(made.q);
  dk.take(made.k);
  dv.take(made.v);
}

}  // namespace shardlab
