#include "engine/execute/torch/operators/random_mask.h"

#include <cmath>

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/mul.h>

#include "engine/base/hash.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

// Element i of a sequence is kept by the upper half of splitmix64 at its seed + i steps of the generator.
void draw_on_host(double dropped, std::uint64_t seed, const at::Tensor& mask) {
  const auto least = static_cast<std::uint64_t>(std::ceil(dropped * 0x1p32));
  auto* kept = data_of<std::uint8_t>(mask);
  for_rows(mask.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      kept[i] = (splitmix64(seed + static_cast<std::uint64_t>(i) * k_splitmix_step) >> 32) >= least;
  });
}

void draw_on_device(double dropped, std::uint64_t seed, at::Tensor mask) {
  at::Generator generator = at::globalContext().defaultGenerator(mask.device()).clone();
  generator.set_current_seed(seed);
  mask.bernoulli_(1 - dropped, generator);
}

// What an element that is kept is multiplied with.
double scale_of(double dropped) {
  return dropped < 1 ? 1 / (1 - dropped) : 0;
}

}  // namespace

void draw_mask(double dropped, std::span<const std::uint64_t> seeds, const at::Tensor& mask) {
  TORCH_CHECK(static_cast<std::int64_t>(seeds.size()) == mask.size(0), "dropout has ", seeds.size(),
              " seeds for ", mask.size(0), " sequences");
  for (std::size_t sequence = 0; sequence < seeds.size(); ++sequence) {
    const at::Tensor part = mask[static_cast<std::int64_t>(sequence)];
    if (mask.is_cpu()) {
      draw_on_host(dropped, seeds[sequence], part);
    } else {
      draw_on_device(dropped, seeds[sequence], part);
    }
  }
}

// ATen's kernels for processors would convert the mask first, to a tensor of their own.
void apply_mask(double dropped, const at::Tensor& x, const at::Tensor& mask, const at::Tensor& y) {
  const double scale = scale_of(dropped);
  if (!x.is_cpu()) {
    at::Tensor result = y.view(x.sizes());
    at::mul_out(result, x, mask.view(x.sizes())).mul_(scale);
    return;
  }
  const auto* kept = data_of<std::uint8_t>(mask);
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    const T* from = data_of<T>(x);
    T* to = data_of<T>(y);
    for_rows(x.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().apply_mask(static_cast<float>(scale), from + begin, kept + begin, end - begin,
                                  to + begin);
    });
  });
}

}  // namespace shardlab
