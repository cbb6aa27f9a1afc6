#include "engine/model/checkpoint_regions.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

namespace {

// What autograd saves of an operator. Weights count: they are packed like other tensors, only not made again.
struct Saves {
  bool anything = false;
  bool made_here = false;  // outputs, or tensors made for backward alone
};

Saves saves_of(const ModelGraph& graph, const Operator& op) {
  const OperatorDescription description = describe_operator(graph, op);
  if (!description.has_backward) return {};
  Saves saves;
  saves.made_here = description.saved_outputs != 0 || !description.extras.empty();
  const bool reads_weights = !op.parameters.empty() &&
                             std::any_of(op.inputs.begin(), op.inputs.end(),
                                         [&](TensorId input) { return graph.tensor(input).requires_grad; });
  saves.anything = saves.made_here || description.saved_inputs != 0 || reads_weights;
  return saves;
}

// The operators of a module and of those below it.
struct OperatorRange {
  OperatorId begin, end;
  bool found = false;
  bool is_apart = false;  // others run between them
};

void add_operator(OperatorRange& range, OperatorId op) {
  range.is_apart = range.is_apart || (range.found && range.end != op);
  if (!range.found) range.begin = op;
  range.end = OperatorId{op.value + 1};
  range.found = true;
}

// The range of every module, in one pass over the operators.
std::vector<OperatorRange> operator_ranges(const ModelGraph& graph) {
  std::vector<OperatorRange> ranges(graph.modules.size());
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    for (std::optional<ModuleId> id = graph.operators[i].module; id; id = graph.module(*id).parent)
      add_operator(ranges[id->index()], make_id<OperatorId>(i));
  }
  return ranges;
}

// Operators of the module run one after the other.
Result<CheckpointRegion> region_of(const ModelGraph& graph, ModuleId module, const OperatorRange& range) {
  if (range.is_apart) {
    return not_possible("activation.checkpoint",
                        "the operators of " + graph.module(module).path + " do not run together");
  }
  CheckpointRegion region;
  region.module = module;
  region.begin = range.begin;
  region.end = range.end;
  return region;
}

bool is_input(const ModelGraph& graph, const CheckpointRegion& region, TensorId tensor) {
  for (OperatorId id = region.begin; id < region.end; ++id.value) {
    const auto& outputs = graph.op(id).outputs;
    if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end()) return false;
  }
  return true;
}

bool gradient_enters(const ModelGraph& graph, const CheckpointRegion& region) {
  for (OperatorId id = region.begin; id < region.end; ++id.value) {
    for (const TensorId input : graph.op(id).inputs) {
      if (graph.tensor(input).requires_grad && is_input(graph, region, input)) return true;
    }
  }
  return false;
}

Status check_reentrant(const ModelGraph& graph, const CheckpointRegion& region) {
  if (gradient_enters(graph, region)) return {};
  return bad_input(
      "activation.reentrant",
      fmt::format(
          "no gradient flows into {}: everything below is frozen. PyTorch's reentrant checkpoint then leaves "
          "its parameters without gradients",
          graph.module(region.module).path),
      "set activation.reentrant: false, or train what is below");
}

}  // namespace

Result<std::vector<CheckpointRegion>> checkpoint_regions(const ModelGraph& graph, int every, bool around_unit,
                                                         bool reentrant) {
  const std::vector<OperatorRange> ranges = operator_ranges(graph);
  std::vector<CheckpointRegion> regions;
  int layer = 0;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name != graph.block_class || ++layer % every != 0) continue;
    SHARDLAB_TRY(CheckpointRegion region, region_of(graph, make_id<ModuleId>(i), ranges[i]));
    bool saves_anything = false;
    for (OperatorId id = region.begin; id < region.end; ++id.value) {
      const Saves saves = saves_of(graph, graph.op(id));
      if (!saves.anything) continue;
      saves_anything = true;
      region.trigger = id;
      region.stop = saves.made_here ? OperatorId{id.value + 1} : id;
      region.stops_in = id;
    }
    if (!saves_anything) continue;
    region.around_unit = around_unit;
    if (reentrant) {
      SHARDLAB_CHECK_OK(check_reentrant(graph, region));
      region.stop = region.stops_in = region.end;
      region.trigger = OperatorId{region.end.value - 1};
      region.reentrant = true;
    }
    regions.push_back(region);
  }
  if (layer < every) {
    return bad_input("activation.every",
                     fmt::format("the model has {} layers, none is the {}th", layer, every),
                     fmt::format("at most {}", layer));
  }
  return regions;
}

namespace {

constexpr const char* k_key = "activation.operators";

// Operators of the kind in the region: the first, the first after `every`, and so on.
void add_retained(const ModelGraph& graph, const RetainedKind& kind, CheckpointRegion& region) {
  int seen = 0;
  for (OperatorId id = region.begin; id < region.end; ++id.value) {
    if (graph.op(id).type == kind.type && seen++ % kind.every == 0) region.retained.push_back(id);
  }
}

void keep_extras(ModelGraph& graph, Operator& op) {
  for (const ExtraTensor& extra : describe_operator(graph, op).extras) {
    op.extra_tensors.push_back(make_id<TensorId>(graph.tensors.size()));
    graph.tensors.push_back({extra.label, extra.shape, extra.dtype, TensorRole::activation, false, {}});
  }
}

}  // namespace

bool CheckpointRegion::retains(OperatorId op) const {
  return std::binary_search(retained.begin(), retained.end(), op);
}

Result<RetainedKind> parse_retained_kind(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string name = text.substr(0, slash);
  RetainedKind kind{find_operator_type(name)};
  if (kind.type == nullptr) {
    std::vector<std::string> known;
    for (const OperatorType* type : operator_types()) known.emplace_back(type->name);
    return bad_input(k_key, "no kind of operator is called '" + name + "'", suggestion(name, known));
  }
  if (slash == std::string::npos) return kind;
  const Result<std::int64_t> every = parse_integer(text.substr(slash + 1));
  if (!every || *every < 1 || *every > 1'000'000)
    return bad_input(k_key, "'" + text + "': a whole number from 1 follows the slash",
                     "linear/2 keeps every second");
  kind.every = static_cast<int>(*every);
  return kind;
}

Result<std::vector<RetainedKind>> parse_retained_kinds(const std::vector<std::string>& texts) {
  std::vector<RetainedKind> kinds;
  for (const std::string& text : texts) {
    SHARDLAB_TRY(const RetainedKind kind, parse_retained_kind(text));
    kinds.push_back(kind);
  }
  return kinds;
}

Status choose_retained(const ModelGraph& graph, std::vector<CheckpointRegion>& regions,
                       const std::vector<RetainedKind>& kinds) {
  for (const RetainedKind& kind : kinds) {
    std::size_t before = 0, after = 0;
    for (CheckpointRegion& region : regions) {
      before += region.retained.size();
      add_retained(graph, kind, region);
      after += region.retained.size();
    }
    if (!regions.empty() && before == after)
      return bad_input(k_key, fmt::format("no checkpointed layer has an operator '{}'", kind.type->name),
                       "`shardlab model` lists the operators of a layer");
  }
  for (CheckpointRegion& region : regions) {
    std::sort(region.retained.begin(), region.retained.end());
    region.retained.erase(std::unique(region.retained.begin(), region.retained.end()), region.retained.end());
  }
  return {};
}

Status retain_operators(ModelGraph& graph, std::vector<CheckpointRegion>& regions,
                        const std::vector<RetainedKind>& kinds) {
  SHARDLAB_CHECK_OK(choose_retained(graph, regions, kinds));
  for (const CheckpointRegion& region : regions)
    for (const OperatorId id : region.retained) keep_extras(graph, graph.operators[id.index()]);
  return {};
}

}  // namespace shardlab
