#include "engine/report/explain_memory/buffer_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/model/operators/operator_type.h"
#include "engine/report/figures.h"

namespace shardlab {
namespace {

constexpr const char* k_parameters = "parameters";

std::string counted_parameters(std::int64_t padding) {
  return padding == 0 ? k_parameters : fmt::format("parameters with {} of padding", grouped(padding));
}

bool is_one_of_many(BufferLayout layout) {
  return layout == BufferLayout::row_shards || layout == BufferLayout::flat_shard;
}

// Elements of the parameters that lie in the buffer.
std::int64_t parameters_of(const ModelGraph& graph, const Buffer& buffer) {
  std::int64_t elements = 0;
  for (const ParameterId id : buffer.parameters) elements += graph.parameter(id).elements();
  return elements;
}

// Several weights in few bits share a number.
std::optional<std::string> packed_numbers(const ModelGraph& graph, const Buffer& buffer) {
  std::int64_t stored = 0, held = 0;
  for (const ParameterId id : buffer.parameters) {
    stored += graph.parameter(id).elements();
    held += graph.parameter(id).model_elements();
  }
  if (stored == held) return std::nullopt;
  return fmt::format("numbers for {} parameters", grouped(held));
}

// How many alike things there are: "32 layers" with one each, "4 tensors x 32 layers" with several each.
std::vector<Factor> factors_of_count(const std::vector<int>& layers, const char* things) {
  std::map<int, std::int64_t> by_layer;
  for (const int layer : layers) ++by_layer[layer];
  const std::int64_t each = by_layer.begin()->second;
  const bool even =
      std::all_of(by_layer.begin(), by_layer.end(), [&](auto& its) { return its.second == each; });
  std::vector<Factor> factors;
  if (!even || by_layer.contains(-1) || by_layer.size() < 2) {
    if (layers.size() > 1) factors.push_back({std::ssize(layers), things});
    return factors;
  }
  if (each > 1) factors.push_back({each, things});
  factors.push_back({std::ssize(by_layer), "layers"});
  return factors;
}

}  // namespace

void PartCollector::add(std::string what, std::string made_by, ByteProduct product, int layer) {
  auto found = std::find_if(alike_.begin(), alike_.end(), [&](const Alike& each) {
    return each.what == what && each.made_by == made_by && each.product == product;
  });
  if (found == alike_.end()) {
    alike_.push_back({std::move(what), std::move(made_by), std::move(product), {}});
    found = alike_.end() - 1;
  }
  found->layers.push_back(layer);
}

void PartCollector::add(const ProgramValue& value, std::string made_by, int layer) {
  if (value.bytes.value == 0) return;
  add(context_.tensors.label(value), std::move(made_by), context_.tensors.product(value), layer);
}

void PartCollector::add_parameter(const Buffer& buffer, ParameterId parameter) {
  add("", "",
      {{{element_size(buffer.dtype), "bytes"},
        {context_.planned.graph.parameter(parameter).elements(), "parameters"}}});
}

// A shard is what a rank holds of all ranks' together, which padding makes even.
void PartCollector::add_parameters(const Buffer& buffer, int layer) {
  ByteProduct product{{{element_size(buffer.dtype), "bytes"}}};
  const std::int64_t all = parameters_of(context_.planned.graph, buffer);
  const std::optional<std::string> packed = packed_numbers(context_.planned.graph, buffer);
  if (is_one_of_many(buffer.layout) && buffer.shards > 1) {
    const std::int64_t together = buffer.elements * buffer.shards;
    product.factors.push_back({together, packed.value_or(counted_parameters(together - all))});
    product.divisors.push_back({buffer.shards, "ranks"});
  } else if (buffer.layout == BufferLayout::trained_flat_shard) {
    product.factors.push_back({buffer.elements, "trained parameters of the rank with most"});
  } else if (buffer.elements >= all) {
    product.factors.push_back({buffer.elements, packed.value_or(counted_parameters(buffer.elements - all))});
  } else {
    product.factors.push_back({buffer.elements, "numbers"});
  }
  add("", "", std::move(product), layer);
}

// Everything that backward will read of a segment's forward, by the operator that made it.
void PartCollector::add_kept(const Buffer& buffer, int layer) {
  const SegmentPrograms& programs = context_.planned.partition.segment(*buffer.saved_by).programs;
  Bytes rest = buffer.bytes();
  for (const ValueIndex index : programs.keeps) {
    const ProgramValue& value = programs.keeper().values[index];
    add(value, context_.tensors.maker_name(value.tensor), layer);
    rest -= value.bytes;
  }
  if (rest.value != 0) add("", "", {{{rest.value, "bytes"}}}, layer);
}

void PartCollector::add(BufferId id) {
  const Buffer& buffer = context_.plan.buffer(id);
  const ModelGraph& graph = context_.planned.graph;
  const auto place = context_.words.buffer(id).place;
  const int layer = place ? place->layer.value_or(-1) : -1;
  if (buffer.bytes().value == 0) return;
  if (buffer.saved_by) {
    add_kept(buffer, layer);
  } else if (buffer.tensor && buffer.bytes() == graph.tensor(*buffer.tensor).bytes()) {
    add("", context_.tensors.maker_name(*buffer.tensor),
        context_.tensors.product(buffer.dtype, *buffer.tensor), layer);
  } else if (!buffer.parameters.empty() && buffer.layout != BufferLayout::opaque) {
    add_parameters(buffer, layer);
  } else {
    add("", "", {{{element_size(buffer.dtype), "bytes"}, {buffer.elements, "numbers"}}}, layer);
  }
}

namespace {

constexpr std::size_t k_products_told = 3;

bool can_be_summed(const ByteFormula& formula) {
  return std::all_of(formula.begin(), formula.end(), [&](const ByteProduct& each) {
    return each.factors.size() >= 2 && each.factors[0] == formula[0].factors[0] &&
           each.factors[1].name.starts_with(k_parameters) && each.divisors == formula[0].divisors;
  });
}

// Units of many sizes: their parameters together.
ByteFormula summed(ByteFormula formula) {
  if (formula.size() <= k_products_told || !can_be_summed(formula)) return formula;
  ByteProduct sum{{formula[0].factors[0], {0, k_parameters}}, formula[0].divisors};
  for (const ByteProduct& each : formula) {
    std::int64_t parameters = 1;
    for (std::size_t i = 1; i < each.factors.size(); ++i) parameters *= each.factors[i].value;
    sum.factors[1].value += parameters;
    if (each.factors[1].name != k_parameters) sum.factors[1].name = "parameters with padding";
  }
  return {sum};
}

}  // namespace

std::vector<MemoryPart> PartCollector::parts() const {
  std::vector<MemoryPart> parts;
  for (const Alike& each : alike_) {
    ByteProduct product = each.product;
    const bool buffers = each.what.empty() && each.made_by.empty();
    for (Factor& factor : factors_of_count(each.layers, buffers ? "buffers" : "tensors"))
      product.factors.push_back(std::move(factor));
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const MemoryPart& part) {
      return part.what == each.what && part.made_by == each.made_by;
    });
    if (same == parts.end()) {
      parts.push_back({each.what, each.made_by, {std::move(product)}});
    } else {
      same->formula.push_back(std::move(product));
    }
  }
  for (MemoryPart& part : parts) {
    part.formula = summed(std::move(part.formula));
    std::stable_sort(part.formula.begin(), part.formula.end(),
                     [](const ByteProduct& a, const ByteProduct& b) { return a.bytes() > b.bytes(); });
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MemoryPart& a, const MemoryPart& b) { return a.bytes() > b.bytes(); });
  return parts;
}

}  // namespace shardlab
