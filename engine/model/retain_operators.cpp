#include <fmt/format.h>

#include <algorithm>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/model/checkpoint_regions.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
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

Status retain_operators(ModelGraph& graph, std::vector<CheckpointRegion>& regions,
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
    for (const OperatorId id : region.retained) keep_extras(graph, graph.operators[id.index()]);
  }
  return {};
}

}  // namespace shardlab
