// Settings that may help, which a check names and somebody who can predict tries before they are proposed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlab {

// What a fix must reach to be proposed: less memory until it suffices, or a shorter step; effect: nothing but
// to be allowed, so that its effect is known. none: it is not tried.
enum class Goal : std::uint8_t { none, fit, speed, effect };

// What a setting against lack of memory is about. Of settings that cost the same time the earlier is
// proposed; fewer bits, and after them host memory, only where nothing before them suffices.
enum class RemedyStep : std::uint8_t {
  wrapping,
  limits,     // on what is gathered ahead, on buckets, on what the allocator splits
  attention,  // whether all of its scores are there at once
  loss,       // how much of the logits is
  checkpointing,
  micro_batch,
  sharding,
  lower_types,
  activation_offload,
  optimizer_offload,
  parameter_offload,
};

struct Remedy {
  RemedyStep step = RemedyStep::wrapping;
  // Each a list of settings as for --set, the mildest first.
  std::vector<std::vector<std::string>> levels;

  friend bool operator==(const Remedy&, const Remedy&) = default;
};

}  // namespace shardlab
