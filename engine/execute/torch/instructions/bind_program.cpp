#include <algorithm>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/segment_program.h"
#include "engine/execute/torch/torch_dtype.h"
#include "engine/plan/gradient_parts.h"
#include "engine/plan/segment_run.h"

namespace shardlab {
namespace {

Shape contiguous_strides(const Shape& sizes) {
  Shape strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

class Binder {
 public:
  explicit Binder(const Site& site)
      : site_(site),
        graph_(site.run.planned.graph),
        instruction_(site.instruction()),
        segment_(site.run.planned.partition.segment(*instruction_.segment)),
        backward_(instruction_.kind == InstructionKind::Backward),
        run_(segment_run(segment_.programs, instruction_.kind)),
        program_(run_.program) {}

  Result<BoundProgram> bind() {
    SHARDLAB_CHECK_OK(bind_values());
    for (const ProgramStep& step : program_.steps) SHARDLAB_CHECK_OK(bind_step(step));
    SHARDLAB_CHECK_OK(bind_memory());
    return std::move(bound_);
  }

 private:
  Status bind_values() {
    for (const ProgramValue& value : program_.values) {
      BoundValue bound;
      bound.origin = value.origin;
      bound.saved = value.saved;
      bound.sizes = value.extra ? value.extra_shape : graph_.tensor(value.tensor).shape;
      bound.dtype = to_torch(value.dtype);
      if (value.origin == ValueOrigin::tensor_buffer || value.origin == ValueOrigin::gradient_buffer) {
        SHARDLAB_TRY(bound.slot, find_buffer(value.tensor, value.origin == ValueOrigin::gradient_buffer));
      }
      bound_.values.push_back(std::move(bound));
    }
    for (const ProgramStep& step : program_.steps) {
      for (const ValueIndex value : step.allocates) bound_.values[value].made_here = true;
    }
    if (run_.keeps) bind_kept();
    if (instruction_.kind == InstructionKind::Forward) bind_loss();
    return {};
  }

  void bind_kept() {
    bound_.keeps.assign(run_.kept.begin(), run_.kept.end());
    for (const ValueIndex value : bound_.keeps) bound_.values[value].buffer_class = BufferClass::activation;
  }

  void bind_loss() {
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const bool is_loss =
          program_.values[i].origin == ValueOrigin::tensor_buffer && program_.values[i].tensor == graph_.loss;
      if (is_loss) bound_.loss = static_cast<ValueIndex>(i);
    }
  }

  // Among the buffers the instruction names.
  template <typename Predicate>
  const BufferId* find(Predicate matches) const {
    for (const auto* list : {&instruction_.writes, &instruction_.reads, &instruction_.frees}) {
      for (const BufferId& id : *list) {
        if (matches(site_.buffer(id))) return &id;
      }
    }
    return nullptr;
  }

  Result<Slot> find_buffer(TensorId tensor, bool gradient) const {
    const BufferId* found = find([&](const Buffer& buffer) {
      return buffer.tensor == tensor && (buffer.buffer_class == BufferClass::activation_gradient) == gradient;
    });
    if (found == nullptr) {
      return site_.defect(fmt::format("no buffer for the {} of tensor {} ({})",
                                      gradient ? "gradient" : "value", tensor.value,
                                      graph_.tensor(tensor).label));
    }
    return site_.slot(*found);
  }

  Status bind_step(const ProgramStep& step) {
    BoundStep bound;
    bound.step = &step;
    if (step.kind == StepKind::forward || step.kind == StepKind::backward) {
      bound.op = &graph_.op(step.op);
      bound.implementation = implementation_of(bound.op->type->name);
      if (bound.implementation == nullptr) {
        return not_possible(std::string(bound.op->type->name),
                            "not supported yet: this operator in a real run", "simulate it instead");
      }
      for (const ParameterId parameter : bound.op->parameters)
        SHARDLAB_CHECK_OK(bind_parameter(parameter, bound));
    }
    bound_.steps.push_back(std::move(bound));
    return {};
  }

  const OperatorImplementation* implementation_of(std::string_view name) const {
    return site_.run.backend->find_operator(name);
  }

  Status bind_parameter(ParameterId parameter, BoundStep& step) {
    const auto holds = [&](const Buffer& buffer, bool gradient) {
      return holds_whole_parameters(buffer.layout) &&
             (buffer.buffer_class == BufferClass::gradient) == gradient &&
             buffer.buffer_class != BufferClass::reduce_buffer &&
             std::find(buffer.parameters.begin(), buffer.parameters.end(), parameter) !=
                 buffer.parameters.end();
    };
    const BufferId* values = find([&](const Buffer& buffer) { return holds(buffer, false); });
    if (values == nullptr) return site_.defect("it does not read " + graph_.parameter(parameter).name);
    step.parameters.push_back(view_of(*values, parameter, bound_.parameters));
    if (!backward_) return {};
    const BufferId* gradients = find([&](const Buffer& buffer) { return holds(buffer, true); });
    if (gradients == nullptr) {
      step.gradients.push_back(k_no_value);
      step.accumulate.push_back(false);
      return {};
    }
    const std::uint32_t view = view_of(*gradients, parameter, bound_.gradients);
    const auto& fresh = instruction_.allocates;
    const bool first_write =
        std::find(fresh.begin(), fresh.end(), *gradients) != fresh.end() && written_.size() <= view;
    if (written_.size() <= view) written_.resize(view + 1);
    step.gradients.push_back(view);
    step.accumulate.push_back(!first_write);
    return {};
  }

  // The view's position; made at first mention.
  std::uint32_t view_of(BufferId buffer, ParameterId parameter, std::vector<BoundView>& views) const {
    const ParameterLayout layout = site_.run.layout(site_.buffer(buffer));
    const auto piece = std::find_if(layout.pieces.begin(), layout.pieces.end(),
                                    [&](const ParameterPiece& p) { return p.parameter == parameter; });
    const bool flat = site_.buffer(buffer).layout == BufferLayout::flat;
    BoundView view{site_.slot(buffer),
                   flat ? piece->flat_offset : piece->offset,
                   piece->elements(),
                   graph_.parameter(parameter).shape,
                   {}};
    view.strides = contiguous_strides(view.sizes);
    const auto known = std::find_if(views.begin(), views.end(), [&](const BoundView& v) {
      return v.slot == view.slot && v.offset == view.offset;
    });
    if (known != views.end()) return static_cast<std::uint32_t>(known - views.begin());
    views.push_back(std::move(view));
    return static_cast<std::uint32_t>(views.size() - 1);
  }

  // Gaps of the layout, and frozen parameters of a flat one that no operator reads: the original of a module
  // of which a copy is trained (model/lora).
  std::vector<ElementRange> ranges_nobody_writes(const Buffer& buffer) const {
    const Partition& partition = site_.run.planned.partition;
    std::vector<ElementRange> ranges = padding_ranges(site_.run, buffer);
    for (const HeldRange& held : held_ranges(site_.run, buffer)) {
      const bool written =
          partition.gradient_segment[held.parameter.index()].index() < partition.segments.size();
      if (!written) ranges.push_back({held.offset, held.offset, held.count});
    }
    return ranges;
  }

  Status bind_memory() {
    const BufferId* saved =
        find([&](const Buffer& buffer) { return buffer.saved_by == instruction_.segment; });
    if (saved == nullptr && (backward_ || run_.keeps) && segment_.programs.saved_bytes.value > 0)
      return site_.defect("no buffer for what forward keeps");
    if (saved != nullptr) bound_.saved = site_.slot(*saved);
    for (const BufferId id : instruction_.frees) {
      if (site_.buffer(id).tensor) bound_.incoming.push_back(site_.slot(id));
    }
    if (backward_) bind_new_gradients();
    return {};
  }

  void bind_new_gradients() {
    const auto parts = gradient_parts(graph_, site_.plan, instruction_, program_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const GradientPart& part : parts[i]) {
        const Buffer& buffer = site_.buffer(part.buffer);
        const bool separate = buffer.layout == BufferLayout::separate_parameters;
        bound_.steps[i].new_gradients.push_back(
            {site_.slot(part.buffer), part.part,
             separate ? std::vector<ElementRange>() : ranges_nobody_writes(buffer)});
      }
    }
  }

  const Site& site_;
  const ModelGraph& graph_;
  const Instruction& instruction_;
  const Segment& segment_;
  const bool backward_;
  const SegmentRun run_;
  const Program& program_;
  BoundProgram bound_;
  std::vector<bool> written_;  // by gradient view
};

}  // namespace

Result<BoundProgram> bind_program(const Site& site) {
  const Instruction& instruction = site.instruction();
  if (!instruction.segment || instruction.segment->index() >= site.run.planned.partition.segments.size()) {
    return site.defect("names no segment");
  }
  return Binder(site).bind();
}

}  // namespace shardlab
