// Which parts of a ZeRO-3 optimizer's state lie on a drive, and how its buffers are measured.
//
// Source: DeepSpeed 0.19.8, runtime/swap_tensor/optimizer_utils.py and utils.py: a tensor is swapped where it
// has at least 1 MiB, or a block of aio where that is more; lengths are rounded up to 1024 bytes a thread.
// shardlab rounds what it puts into a buffer up to pages of 4096 bytes, in which a drive is read and written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/scenario/offload_spec.h"
#include "engine/strategies/zero3/sub_groups.h"

namespace shardlab {

struct SwapRules {
  explicit SwapRules(const OffloadSpec& offload);

  // Whether so many float32 elements of one rank go to the drive.
  bool is_swapped(std::int64_t elements) const { return elements * 4 >= least_bytes; }
  // The elements of a gradient that can be swapped; of the others DeepSpeed keeps a view.
  std::int64_t aligned_part(std::int64_t elements) const { return elements / alignment * alignment; }
  bool overlaps() const { return reads_ahead || writes_behind; }
  // As a buffer holds them.
  std::int64_t in_pages(std::int64_t elements) const;

  std::int64_t least_bytes, alignment, page;  // bytes, elements, elements
  bool reads_ahead, writes_behind;
};

// Elements of the rank in the sub-group.
std::int64_t elements_of_group(const SubGroups& groups, std::size_t group);
// The length that every staging buffer has: that of the largest sub-group, swapped or not.
std::int64_t largest_buffer(const SubGroups& groups, const SwapRules& rules);

// DeepSpeed's offload_optimizer.buffer_count where offload.buffers is 0.
std::size_t staging_buffers(const OffloadSpec& offload);
// The least number with which an update of `swapped` sub-groups works: what one of them takes (the master,
// `states` states and the gradient), once more for one that is read ahead and for one that is being written.
std::size_t least_staging_buffers(const SwapRules& rules, std::size_t states, std::size_t swapped);

}  // namespace shardlab
