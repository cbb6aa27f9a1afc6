#include "engine/model/partition.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/model/free_inputs.h"
#include "engine/model/join_teacher.h"
#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

constexpr std::uint32_t k_unset = 0xffffffffU;

class Partitioner {
 public:
  Partitioner(const ModelGraph& graph, std::span<const ModuleId> wrapped,
              std::span<const OperatorId> extra_cuts, std::span<const CheckpointRegion> regions,
              std::span<const ModuleId> ignored, std::span<const JoinedModules> joined)
      : graph_(graph), joined_(joined) {
    make_units(wrapped, ignored);
    make_segments(extra_cuts, regions);
    make_regions(regions);
    find_borders();
    find_retained();
    find_required_gradients();
    for (Unit& unit : p_.units) {
      if (unit.modules.size() > 1) find_joined_gradients(unit);
    }
    find_parameters();
    lower();
    free_inputs_within_segments(graph_, p_);
  }
  Partition take() { return std::move(p_); }

 private:
  // Modules come in definition order, parents first, so the unit of a module is known before its children
  // ask.
  void make_units(std::span<const ModuleId> wrapped, std::span<const ModuleId> ignored) {
    std::vector<std::optional<UnitId>> made(graph_.modules.size()), outside(graph_.modules.size());
    make_units_of(ModuleId{0}, wrapped, ignored, made, outside);
    if (graph_.teacher) make_units_of(graph_.teacher->root, wrapped, ignored, made, outside);
    unit_of_module_.resize(graph_.modules.size());
    p_.unit_of_parameter.assign(graph_.parameters.size(), UnitId{k_unset});
    for (std::size_t i = 0; i < graph_.modules.size(); ++i) {
      const Module& module = graph_.modules[i];
      unit_of_module_[i] = made[i] ? *made[i] : unit_of_module_[module.parent->index()];
      if (!outside[i] && module.parent) outside[i] = outside[module.parent->index()];
      assign_parameters(module, outside[i].value_or(unit_of_module_[i]));
    }
    for (Unit& unit : p_.units) {
      if (unit.modules.size() > 1) order_parameters(unit);
    }
  }

  // Module by module, in the order given (_get_managed_modules).
  void order_parameters(Unit& unit) const {
    const auto position = [&](ParameterId id) {
      std::size_t first = unit.modules.size();
      for (std::size_t i = 0; i < graph_.modules.size(); ++i) {
        if (!contains(graph_.modules[i].parameters, id)) continue;
        for (std::size_t of = 0; of < first; ++of) {
          if (lies_within(graph_, make_id<ModuleId>(i), unit.modules[of])) first = of;
        }
      }
      return first;
    };
    std::stable_sort(unit.parameters.begin(), unit.parameters.end(),
                     [&](ParameterId a, ParameterId b) { return position(a) < position(b); });
  }

  // The modules of the unit that this one begins.
  JoinedModules modules_with(ModuleId first) const {
    for (const JoinedModules& modules : joined_) {
      if (modules.front() == first) return modules;
    }
    return {first};
  }

  // Makes the units of the model with this root: the student's, mostly the only one, or the teacher's.
  void make_units_of(ModuleId root, std::span<const ModuleId> wrapped, std::span<const ModuleId> ignored,
                     std::vector<std::optional<UnitId>>& made, std::vector<std::optional<UnitId>>& outside) {
    const bool teacher = graph_.is_teachers(root);
    UnitSettings settings;
    settings.precision.param = settings.precision.reduce = graph_.compute_dtype;
    const auto add = [&](const std::string& name, JoinedModules modules) {
      const std::string prefix(teacher ? k_teacher_prefix : "");
      p_.units.push_back({prefix + name, std::move(modules), {}, {}, settings, teacher});
      return make_id<UnitId>(p_.units.size() - 1);
    };
    std::size_t count = 0;
    for (const ModuleId id : in_forward_order(root, wrapped)) {
      const UnitId unit = add(count == 0 ? "root" : "u" + std::to_string(count - 1), modules_with(id));
      for (const ModuleId module : p_.units.back().modules) made[module.index()] = unit;
      ++count;
    }
    count = 0;
    for (const ModuleId id : ignored) {
      if (graph_.is_teachers(id) != teacher) continue;
      outside[id.index()] = add("ignored" + std::to_string(count++), {id});
      p_.units.back().ignored = true;
    }
  }

  // The root first, then by the first operator that runs in them; outer modules before the inner ones that
  // begin with them.
  std::vector<ModuleId> in_forward_order(ModuleId root, std::span<const ModuleId> wrapped) const {
    std::vector<std::uint32_t> first_operator(graph_.modules.size(), k_unset);
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      std::optional<ModuleId> module = graph_.operators[i].module;
      for (; module && first_operator[module->index()] == k_unset; module = graph_.module(*module).parent) {
        first_operator[module->index()] = static_cast<std::uint32_t>(i);
      }
    }
    std::vector<ModuleId> order{root};
    for (const ModuleId id : wrapped) {
      if (id != root && graph_.is_teachers(id) == graph_.is_teachers(root)) order.push_back(id);
    }
    const auto begin_of = [&](ModuleId unit) {
      auto begin = std::pair(k_unset, unit);
      for (const ModuleId id : modules_with(unit))
        begin = std::min(begin, std::pair(first_operator[id.index()], id));
      return begin;
    };
    std::sort(order.begin() + 1, order.end(),
              [&](ModuleId a, ModuleId b) { return begin_of(a) < begin_of(b); });
    return order;
  }

  void assign_parameters(const Module& module, UnitId unit) {
    for (const ParameterId parameter : module.parameters) {
      if (p_.unit_of_parameter[parameter.index()].value != k_unset)
        continue;  // tied: the first owner keeps it
      p_.unit_of_parameter[parameter.index()] = unit;
      p_.units[unit.index()].parameters.push_back(parameter);
    }
  }

  void make_segments(std::span<const OperatorId> extra_cuts, std::span<const CheckpointRegion> regions) {
    std::vector<bool> cut(graph_.operators.size() + 1, false);
    for (const OperatorId id : extra_cuts) cut[id.index()] = true;
    for (const CheckpointRegion& region : regions) cut[region.begin.index()] = cut[region.end.index()] = true;
    segment_of_operator_.resize(graph_.operators.size());
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const UnitId unit = unit_of_module_[graph_.operators[i].module.index()];
      if (i == 0 || cut[i] || unit != p_.segments.back().unit) begin_segment(i, unit);
      p_.segments.back().end = make_id<OperatorId>(i + 1);
      segment_of_operator_[i] = make_id<SegmentId>(p_.segments.size() - 1);
    }
  }

  void begin_segment(std::size_t first_operator, UnitId unit) {
    const auto id = make_id<SegmentId>(p_.segments.size());
    Segment segment;
    segment.name = "s" + std::to_string(id.value);
    segment.begin = make_id<OperatorId>(first_operator);
    segment.unit = unit;
    p_.segments.push_back(std::move(segment));
    p_.units[unit.index()].segments.push_back(id);
  }

  void make_regions(std::span<const CheckpointRegion> regions) {
    if (regions.empty()) return;
    const auto around = units_by_module(true), within = units_by_module(false);
    for (const CheckpointRegion& operators : regions) {
      Region region{operators,
                    segment_of_operator_[operators.begin.index()],
                    segment_of_operator_[operators.end.index() - 1],
                    segment_of_operator_[operators.trigger.index()],
                    {},
                    (operators.around_unit ? around : within)[operators.module.index()]};
      for (std::size_t i = region.first.index(); i <= region.last.index(); ++i) {
        p_.segments[i].region = make_id<RegionId>(p_.regions.size());
      }
      p_.regions.push_back(std::move(region));
    }
  }

  // By module: the units that lie in it, the unit of the module itself among them where a region lies around
  // units. One pass over all units, for however many regions.
  std::vector<std::vector<UnitId>> units_by_module(bool around_unit) const {
    std::vector<std::vector<UnitId>> units(graph_.modules.size());
    for (std::size_t i = 0; i < p_.units.size(); ++i) {
      if (p_.units[i].ignored) continue;
      std::optional<ModuleId> module = p_.units[i].modules.front();
      if (!around_unit) module = graph_.module(*module).parent;
      for (; module; module = graph_.module(*module).parent)
        units[module->index()].push_back(make_id<UnitId>(i));
    }
    return units;
  }

  // A tensor crosses a border when another segment than its maker's reads it.
  void find_borders() {
    producer_.assign(graph_.tensors.size(), SegmentId{k_unset});
    last_reader_.assign(graph_.tensors.size(), SegmentId{k_unset});
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const SegmentId segment = segment_of_operator_[i];
      for (const TensorId output : graph_.operators[i].outputs) producer_[output.index()] = segment;
      for (const TensorId input : graph_.operators[i].inputs) {
        last_reader_[input.index()] = segment;
        if (producer_[input.index()] != segment) push_unique(p_.segments[segment.index()].inputs, input);
      }
    }
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const auto tensor = make_id<TensorId>(i);
      const bool crosses = last_reader_[i].value != k_unset && last_reader_[i] != producer_[i];
      if (producer_[i].value != k_unset && (crosses || tensor == graph_.loss)) {
        Segment& producer = p_.segments[producer_[i].index()];
        producer.outputs.push_back(tensor);
        if (producer.region && leaves_region(tensor))
          p_.regions[producer.region->index()].outputs.push_back(tensor);
      }
    }
  }

  void find_retained() {
    for (const Region& region : p_.regions) {
      for (const OperatorId id : region.operators.retained) {
        std::vector<TensorId>& retained = p_.segments[segment_of_operator_[id.index()].index()].retained;
        for (const TensorId output : graph_.op(id).outputs) retained.push_back(output);
        for (const TensorId extra : graph_.op(id).extra_tensors) retained.push_back(extra);
      }
    }
  }

  bool leaves_region(TensorId tensor) const {
    const Region& region = p_.region(*p_.segment(producer_[tensor.index()]).region);
    return tensor == graph_.loss || last_reader_[tensor.index()] > region.last;
  }

  // Which units gradients enter and leave, from the tensors that cross their borders.
  void find_required_gradients() {
    for (const Segment& reader : p_.segments) {
      for (const TensorId input : reader.inputs) {
        if (!graph_.tensor(input).requires_grad) continue;
        const UnitId producer = p_.segments[producer_[input.index()].index()].unit;
        for_units_around(reader.unit, producer, [](Unit& unit) { unit.inputs_require_grad = true; });
        for_units_around(producer, reader.unit, [](Unit& unit) { unit.outputs_require_grad = true; });
      }
    }
    if (p_.segments.empty() || !graph_.tensor(graph_.loss).requires_grad) return;
    const UnitId last = p_.segments[producer_[graph_.loss.index()].index()].unit;
    for_units_around(last, std::nullopt, [](Unit& unit) { unit.outputs_require_grad = true; });
  }

  // A unit of several modules hangs its hooks of backward on the inputs of the module that runs first and on
  // the outputs of the one that runs last.
  void find_joined_gradients(Unit& unit) const {
    const auto runs_in = [&](std::size_t op, ModuleId module) {
      return lies_within(graph_, graph_.operators[op].module, module);
    };
    std::optional<ModuleId> first, last;
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      for (const ModuleId module : unit.modules) {
        if (!runs_in(i, module)) continue;
        if (!first) first = module;
        last = module;
      }
    }
    unit.inputs_require_grad = unit.outputs_require_grad = false;
    if (!first) return;
    std::vector<bool> made_in_first(graph_.tensors.size()), made_in_last(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      for (const TensorId input : graph_.operators[i].inputs) {
        if (!graph_.tensor(input).requires_grad) continue;
        if (runs_in(i, *first) && !made_in_first[input.index()]) unit.inputs_require_grad = true;
        if (!runs_in(i, *last) && made_in_last[input.index()]) unit.outputs_require_grad = true;
      }
      for (const TensorId output : graph_.operators[i].outputs) {
        made_in_first[output.index()] = runs_in(i, *first);
        made_in_last[output.index()] = runs_in(i, *last);
      }
    }
    if (made_in_last[graph_.loss.index()] && graph_.tensor(graph_.loss).requires_grad)
      unit.outputs_require_grad = true;
  }

  // The unit and those around it that do not hold `other` too.
  template <typename F>
  void for_units_around(UnitId unit, std::optional<UnitId> other, F&& visit) {
    for (std::optional<UnitId> u = unit; u && !(other && holds(*u, *other)); u = parent_unit(*u))
      visit(p_.units[u->index()]);
  }
  bool holds(UnitId outer, UnitId inner) const {
    for (std::optional<UnitId> u = inner; u; u = parent_unit(*u)) {
      if (*u == outer) return true;
    }
    return false;
  }
  std::optional<UnitId> parent_unit(UnitId unit) const {
    const std::optional<ModuleId> parent = graph_.module(p_.units[unit.index()].modules.front()).parent;
    if (!parent) return std::nullopt;
    return unit_of_module_[parent->index()];
  }

  void find_parameters() {
    p_.gradient_segment.assign(graph_.parameters.size(), SegmentId{k_unset});
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const SegmentId segment = segment_of_operator_[i];
      for (const ParameterId parameter : graph_.operators[i].parameters) {
        push_unique(p_.segments[segment.index()].parameters, parameter);
        if (!graph_.parameter(parameter).requires_grad) continue;
        p_.units[p_.unit_of_parameter[parameter.index()].index()].parameters_require_grad = true;
        p_.gradient_segment[parameter.index()] = segment;  // the last in forward is the first in backward
      }
    }
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      const SegmentId segment = p_.gradient_segment[i];
      if (segment.value != k_unset) p_.segments[segment.index()].gradients.push_back(make_id<ParameterId>(i));
    }
  }

  void lower() {
    for (std::size_t i = 0; i < p_.segments.size(); ++i) {
      Segment& segment = p_.segments[i];
      SegmentBorders borders{segment.begin,    segment.end, segment.inputs, segment.outputs,
                             segment.retained, {},          std::nullopt};
      for (const TensorId input : segment.inputs)
        borders.consumed_later.push_back(last_reader_[input.index()].index() > i);
      if (segment.region)
        borders.recomputation = recomputation_of(p_.region(*segment.region), make_id<SegmentId>(i));
      segment.programs = lower_segment(graph_, borders);
    }
  }

  // What is made again for later segments of the region goes into buffers, and so does what a reentrant
  // region returns again.
  Recomputation recomputation_of(const Region& region, SegmentId id) const {
    Recomputation recomputation{region.operators.stop, {}, &region.operators};
    const std::vector<TensorId>& retained = p_.segment(id).retained;
    for (const TensorId output : p_.segment(id).outputs) {
      const bool returned = region.operators.reentrant && leaves_region(output);
      const bool kept = std::find(retained.begin(), retained.end(), output) != retained.end();
      recomputation.into_buffer.push_back(!kept && (returned || is_read(output, id, region.last)));
    }
    return recomputation;
  }

  // By a segment after `made_by`, up to `last`.
  bool is_read(TensorId tensor, SegmentId made_by, SegmentId last) const {
    for (std::size_t i = made_by.index() + 1; i <= last.index(); ++i) {
      const std::vector<TensorId>& inputs = p_.segments[i].inputs;
      if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) return true;
    }
    return false;
  }

  template <typename T>
  static bool contains(const std::vector<T>& list, T value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }
  template <typename T>
  static void push_unique(std::vector<T>& list, T value) {
    if (!contains(list, value)) list.push_back(value);
  }

  const ModelGraph& graph_;
  std::span<const JoinedModules> joined_;
  Partition p_;
  std::vector<UnitId> unit_of_module_;
  std::vector<SegmentId> segment_of_operator_;
  std::vector<SegmentId> producer_;
  std::vector<SegmentId> last_reader_;
};

}  // namespace

std::int64_t Unit::elements(const ModelGraph& graph) const {
  std::int64_t sum = 0;
  for (const ParameterId id : parameters) sum += graph.parameter(id).elements();
  return sum;
}

std::string Unit::path(const ModelGraph& graph) const {
  std::string joined = graph.module(modules.front()).path;
  for (std::size_t i = 1; i < modules.size(); ++i) joined += "+" + graph.module(modules[i]).path;
  return joined;
}

std::string Unit::class_name(const ModelGraph& graph) const {
  std::string joined = graph.module(modules.front()).class_name;
  for (std::size_t i = 1; i < modules.size(); ++i) joined += "+" + graph.module(modules[i]).class_name;
  return joined;
}

bool Partition::is_made_again_in(const Region& region, TensorId tensor) const {
  const auto holds = [&](const std::vector<TensorId>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  for (std::size_t i = region.first.index(); i <= region.last.index(); ++i) {
    if (holds(segments[i].outputs)) return !holds(segments[i].retained);
  }
  return false;
}

Partition make_partition(const ModelGraph& graph, std::span<const ModuleId> wrapped,
                         std::span<const OperatorId> extra_cuts, std::span<const CheckpointRegion> regions,
                         std::span<const ModuleId> ignored, std::span<const JoinedModules> joined) {
  return Partitioner(graph, wrapped, extra_cuts, regions, ignored, joined).take();
}

}  // namespace shardlab
