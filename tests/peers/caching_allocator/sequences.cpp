#include "tests/peers/caching_allocator/sequences.h"

#include <array>
#include <random>

#include <fmt/format.h>

namespace shardlab {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // From 0 to n - 1. (The distributions of the standard library differ between libraries.)
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
  std::uint64_t any() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

constexpr std::int64_t k_mib = 1 << 20;

// Sizes at which some rule changes, one off now and then; sizes between; sizes that come again.
Bytes size_of(Dice& dice, std::int64_t largest) {
  constexpr std::array<std::int64_t, 14> k_borders = {
      1,         512,        513,        4096,       512 << 10,  k_mib,      2 * k_mib,
      8 * k_mib, 10 * k_mib, 11 * k_mib, 20 * k_mib, 24 * k_mib, 40 * k_mib, 64 * k_mib};
  std::int64_t size = 0;
  switch (dice.below(8)) {
    case 0: size = k_borders[static_cast<std::size_t>(dice.below(k_borders.size()))]; break;
    case 1:
      size = k_borders[static_cast<std::size_t>(dice.below(k_borders.size()))] + dice.between(-1, 1);
      break;
    case 2: size = dice.between(1, 64 << 10); break;
    case 3: size = dice.between(1, k_mib); break;
    case 4: size = dice.between(k_mib, 10 * k_mib); break;
    case 5: size = dice.between(1, 16) * 3 * k_mib / 2; break;
    case 6: size = dice.between(10 * k_mib, largest / 3); break;
    default: size = dice.between(1, 6) * (largest / 12); break;
  }
  return {size < 1 ? 1 : size};
}

}  // namespace

AllocatorSequence make_sequence(std::uint64_t seed) {
  Dice dice(seed);
  AllocatorSequence sequence;
  sequence.seed = seed;
  sequence.total = mebibytes(dice.between(96, 1024));
  sequence.available = dice.below(2) == 0 ? sequence.total : sequence.total - mebibytes(dice.between(1, 32));
  sequence.streams = static_cast<int>(dice.between(1, 6));
  const std::int64_t steps = dice.between(60, 340);
  const std::int64_t mallocs = dice.between(8, 12);  // of 20 steps
  const auto stream = [&] { return static_cast<int>(dice.below(4) == 0 ? 0 : dice.below(sequence.streams)); };
  for (std::int64_t i = 0; i < steps; ++i) {
    SequenceStep step;
    step.stream = stream();
    step.which = dice.any();
    const std::int64_t kind = dice.below(20);
    if (kind < mallocs) {
      step.size = size_of(dice, sequence.total.value);
    } else if (kind < 16) {
      step.call = AllocatorCall::free;
    } else if (kind < 18) {
      step.call = AllocatorCall::record_stream;
    } else if (kind < 19 || dice.below(8) != 0) {
      step.call = AllocatorCall::complete_events;
      step.count = static_cast<int>(dice.between(1, 4));
    } else {
      step.call = AllocatorCall::empty_cache;
    }
    sequence.steps.push_back(step);
  }
  return sequence;
}

std::string to_string(const SequenceStep& step) {
  switch (step.call) {
    case AllocatorCall::malloc: return fmt::format("malloc {} on stream {}", step.size.value, step.stream);
    case AllocatorCall::free: return "free";
    case AllocatorCall::record_stream: return fmt::format("record_stream {}", step.stream);
    case AllocatorCall::complete_events:
      return fmt::format("{} more events of stream {} are done", step.count, step.stream);
    case AllocatorCall::empty_cache: return "empty_cache";
  }
  return {};
}

}  // namespace shardlab
