// Units and segments: how a model is cut before a strategy schedules it.
//
// A unit is the set of parameters gathered together, made from the module tree by a wrap policy. A segment is
// a range of operators that runs without interruption. Cuts are the points where execution enters or leaves a
// unit, plus the extra ones a strategy asks for (gradient buckets). Source of the unit rule: FSDP2
// `fully_shard` called bottom-up on the wrapped modules, then on the root: every parameter belongs to the
// innermost wrapped module around its first owner. Several modules may be one unit, as in
// `fully_shard([norm, lm_head])`: execution enters it with the first of them that runs and leaves it with the
// last (_register_group_forward_hooks).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/model/checkpoint_regions.h"
#include "engine/model/model_graph.h"
#include "engine/model/segment/program.h"
#include "engine/model/unit_settings.h"
#include "engine/model/wrap/joined_modules.h"

namespace shardlab {

struct Unit {
  std::string name;  // "root", "u0", "u1" ... in forward order; a teacher's "teacher.root", "teacher.u0" ...
  std::vector<ModuleId> modules;  // the wrapped module, or several that are one unit, in the order given
  std::vector<ParameterId> parameters;  // module by module in definition order; none of an inner unit
  std::vector<SegmentId> segments;      // in forward order
  UnitSettings settings;                // make_partition gives every unit the graph's compute dtype
  bool teacher = false;                 // of the teacher's tower
  bool ignored =
      false;  // no unit to the framework: parameters stay whole, no hooks, neither gathered nor reduced
  bool parameters_require_grad = false;  // one of its own parameters does
  // A tensor that enters the module, of several the first that runs, requires a gradient.
  bool inputs_require_grad = false;
  bool outputs_require_grad = false;  // a tensor that leaves it, of several the last that runs, does

  std::int64_t elements(const ModelGraph& graph) const;
  // The path of its module; the paths of several modules are joined by a plus, and the root's is empty.
  std::string path(const ModelGraph& graph) const;
  std::string class_name(const ModelGraph& graph) const;
};

struct Segment {
  std::string name;                     // "s0" ...
  OperatorId begin, end;                // [begin, end)
  UnitId unit;                          // the unit whose module runs these operators
  std::optional<RegionId> region;       // of activation checkpointing, that it is part of
  std::vector<TensorId> inputs;         // border tensors and graph inputs read in forward
  std::vector<TensorId> outputs;        // read by a later segment, or the loss
  std::vector<TensorId> retained;       // made here by operators that are not run again; may be outputs too
  std::vector<ParameterId> parameters;  // used, each once, in order of first use
  std::vector<ParameterId>
      gradients;  // of these, the ones whose gradient this segment's backward is the first to make
  SegmentPrograms programs;
};

// A checkpointed region as segments [first, last].
struct Region {
  CheckpointRegion operators;
  SegmentId first, last;
  SegmentId trigger;              // before its backward the region is run again
  std::vector<TensorId> outputs;  // made inside, read behind it
  std::vector<UnitId> units;      // whose hooks run inside, when it is run and when it is run again
};

struct Partition {
  std::vector<Unit> units;  // the root first, then forward order; after them a teacher's in the same way
  std::vector<Segment> segments;
  std::vector<Region> regions;
  std::vector<UnitId> unit_of_parameter;  // by ParameterId
  std::vector<SegmentId>
      gradient_segment;  // by ParameterId: the segment that creates the gradient, if one does

  const Unit& unit(UnitId id) const { return units[id.index()]; }
  const Segment& segment(SegmentId id) const { return segments[id.index()]; }
  const Region& region(RegionId id) const { return regions[id.index()]; }
  static constexpr UnitId root() { return UnitId{0}; }
  // A tensor of the region that is made again for its backward.
  bool is_made_again_in(const Region& region, TensorId tensor) const;
};

// `ignored`: modules whose parameters are in no unit; each makes one that is marked so, after the others.
// `wrapped`: modules that become units, any order, a teacher's among them; roots are units in any case.
// `extra_cuts`: operators that must begin a segment. `regions`: what activation checkpointing runs again;
// their borders are cuts as well. `joined`: modules that are one unit; the first of each is in `wrapped`.
Partition make_partition(const ModelGraph& graph, std::span<const ModuleId> wrapped,
                         std::span<const OperatorId> extra_cuts,
                         std::span<const CheckpointRegion> regions = {},
                         std::span<const ModuleId> ignored = {}, std::span<const JoinedModules> joined = {});

}  // namespace shardlab
