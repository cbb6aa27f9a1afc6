// Copy, Cast, Pack, Unpack, Accumulate: the elements that two buffers have in common, with a change of dtype
// where they differ.
#include <ATen/Dispatch.h>
#include <ATen/ops/_foreach_copy.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/drive_copy.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

// Below this a call into libtorch costs more than the copy.
constexpr std::size_t k_small_bytes = 16 << 10;

struct SourceRanges {
  Slot slot;
  std::vector<ElementRange> ranges;
};

struct DestinationRanges {
  Slot slot;
  std::vector<SourceRanges> sources;
  std::vector<ElementRange> padding;
};

void copy_range(const at::Tensor& to, const at::Tensor& from) {
  const std::size_t bytes = to.nbytes();
  if (from.scalar_type() == to.scalar_type() && bytes <= k_small_bytes) {
    if (bytes > 0) std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), bytes);
    return;
  }
  to.copy_(from);
}

template <typename To, typename From>
void add_elements(To* sum, const From* part, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] = static_cast<To>(static_cast<float>(sum[i]) + static_cast<float>(part[i]));
}

// On a processor libtorch adds across dtypes through converted copies of whole operands; this one takes no
// memory.
void add_range(const at::Tensor& to, const at::Tensor& from) {
  if (!to.is_cpu() || to.scalar_type() == from.scalar_type()) {
    to.add_(from);
    return;
  }
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, to.scalar_type(), "add_range", [&] {
    auto* sum = to.mutable_data_ptr<scalar_t>();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, from.scalar_type(), "add_range",
                                    [&] { add_elements(sum, from.const_data_ptr<scalar_t>(), to.numel()); });
  });
}

class Copies : public Action {
 public:
  Copies(const Site& site, std::vector<DestinationRanges> destinations)
      : buffers_(site.run.buffers),
        destinations_(std::move(destinations)),
        at_once_(site.run.backend->arithmetic() == Arithmetic::device) {}

  void run(StepContext&) override {
    for (const DestinationRanges& destination : destinations_) {
      for (const SourceRanges& source : destination.sources) copy(destination.slot, source);
      for (const ElementRange& range : destination.padding)
        buffers_.range(destination.slot, range.to, range.count).zero_();
    }
  }

 private:
  // On a device a launch for many ranges, as FSDP2's copy-in and copy-out do it (torch 2.11,
  // _fsdp_collectives.py).
  void copy(Slot destination, const SourceRanges& source) {
    std::vector<at::Tensor> to, from;
    for (const ElementRange& range : source.ranges) {
      to.push_back(buffers_.range(destination, range.to, range.count));
      from.push_back(buffers_.range(source.slot, range.from, range.count));
      if (!at_once_) copy_range(to.back(), from.back());
    }
    if (at_once_) at::_foreach_copy_(to, from);
  }

  BufferTable& buffers_;
  std::vector<DestinationRanges> destinations_;
  const bool at_once_;
};

class Accumulate : public Action {
 public:
  Accumulate(const Site& site, std::vector<DestinationRanges> destinations)
      : buffers_(site.run.buffers), destinations_(std::move(destinations)) {}

  void run(StepContext&) override {
    for (const DestinationRanges& destination : destinations_) {
      for (const SourceRanges& source : destination.sources) {
        for (const ElementRange& range : source.ranges) {
          add_range(buffers_.range(destination.slot, range.to, range.count),
                    buffers_.range(source.slot, range.from, range.count));
        }
      }
    }
  }

 private:
  BufferTable& buffers_;
  std::vector<DestinationRanges> destinations_;
};

// A rank's part may hold none of the parameters that are copied now.
bool may_share_nothing(const Site& site, BufferId to) {
  const auto is_part = [&](BufferId id) {
    const BufferLayout layout = site.buffer(id).layout;
    return layout == BufferLayout::flat_shard || layout == BufferLayout::element_shards;
  };
  return is_part(to) || site.buffer(to).layout == BufferLayout::opaque ||
         std::any_of(site.instruction().reads.begin(), site.instruction().reads.end(), is_part);
}

// Every read buffer that is not itself written gives what it has in common with every written one.
Result<std::vector<DestinationRanges>> match_buffers(const Site& site) {
  const Instruction& instruction = site.instruction();
  std::vector<DestinationRanges> destinations;
  for (const BufferId to : instruction.writes) {
    DestinationRanges destination{site.slot(to), {}, {}};
    if (site.buffer(to).layout != BufferLayout::opaque)
      destination.padding = padding_ranges(site.run, site.buffer(to));
    for (const BufferId from : instruction.reads) {
      if (std::find(instruction.writes.begin(), instruction.writes.end(), from) != instruction.writes.end())
        continue;
      auto ranges = common_ranges(site.run, site.buffer(from), site.buffer(to));
      if (!ranges.empty()) destination.sources.push_back({site.slot(from), std::move(ranges)});
    }
    if (destination.sources.empty() && !may_share_nothing(site, to))
      return site.defect(fmt::format("nothing it reads belongs into {}", site.buffer(to).name));
    destinations.push_back(std::move(destination));
  }
  return destinations;
}

}  // namespace

PreparedAction prepare_drive_copy(const Site& site) {
  const Instruction& instruction = site.instruction();
  const BufferId from = instruction.reads.front(), to = instruction.writes.front();
  if (site.buffer(from).bytes() != site.buffer(to).bytes())
    return site.defect(
        fmt::format("{} and {} are not of one size", site.buffer(from).name, site.buffer(to).name));
  const bool reads = site.buffer(from).space == MemorySpace::disk;
  return std::make_unique<DriveCopy>(site.run, reads ? DriveDirection::read : DriveDirection::write,
                                     site.buffer(reads ? from : to).name, site.slot(reads ? to : from));
}

PreparedAction prepare_copy(const Site& site) {
  if (uses_drive(site.plan, site.instruction())) return prepare_drive_copy(site);
  SHARDLAB_TRY(auto destinations, match_buffers(site));
  return std::make_unique<Copies>(site, std::move(destinations));
}

PreparedAction prepare_accumulate(const Site& site) {
  SHARDLAB_TRY(auto destinations, match_buffers(site));
  return std::make_unique<Accumulate>(site, std::move(destinations));
}

}  // namespace shardlab
