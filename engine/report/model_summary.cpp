#include <fmt/format.h>

#include <algorithm>

#include "engine/model/operators/operator_type.h"
#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", size);
  return text + "]";
}

// Zero is left blank.
template <typename Quantity>
std::string figure(Quantity quantity) {
  return quantity.value == 0 ? "" : to_string(quantity);
}
std::string count_figure(std::int64_t count) {
  return count == 0 ? "" : grouped(count);
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

// Whether two modules look alike: class, parameters' shapes, and their children in order.
bool alike(const ModelGraph& graph, ModuleId a, ModuleId b) {
  const Module& left = graph.module(a);
  const Module& right = graph.module(b);
  const auto same_parameter = [&](ParameterId p, ParameterId q) {
    return graph.parameter(p).shape == graph.parameter(q).shape &&
           graph.parameter(p).dtype == graph.parameter(q).dtype;
  };
  const auto same_child = [&](ModuleId p, ModuleId q) {
    return last_name(graph.module(p).path) == last_name(graph.module(q).path) && alike(graph, p, q);
  };
  return left.class_name == right.class_name &&
         std::equal(left.parameters.begin(), left.parameters.end(), right.parameters.begin(),
                    right.parameters.end(), same_parameter) &&
         std::equal(left.children.begin(), left.children.end(), right.children.begin(), right.children.end(),
                    same_child);
}

// Parameters of the module and everything in it; one that is tied counts with its first owner.
std::int64_t parameters_below(const ModelGraph& graph, ModuleId id) {
  std::int64_t sum = 0;
  for (const ParameterId parameter : graph.module(id).parameters) {
    if (graph.parameter(parameter).module == id) sum += graph.parameter(parameter).model_elements();
  }
  for (const ModuleId child : graph.module(id).children) sum += parameters_below(graph, child);
  return sum;
}

class TreePrinter {
 public:
  TreePrinter(const ModelGraph& graph, TextTable& table) : graph_(graph), table_(table) {}

  // `name` is what stands for the module; alike siblings are one line "0..31" with the parameters of one of
  // them.
  void print(ModuleId id, const std::string& name, int count, int depth) {
    const Module& module = graph_.module(id);
    const std::int64_t parameters = parameters_below(graph_, id);
    table_.add({indented(name, depth), module.class_name,
                count > 1 ? fmt::format("{} x {}", count, grouped(parameters)) : count_figure(parameters),
                ""});
    for (const ParameterId parameter : module.parameters) print_parameter(id, parameter, depth + 1);
    print_children(module, depth + 1);
  }

 private:
  static std::string indented(const std::string& name, int depth) {
    return std::string(2 * static_cast<std::size_t>(depth), ' ') + name;
  }

  void print_parameter(ModuleId owner, ParameterId id, int depth) {
    const Parameter& parameter = graph_.parameter(id);
    const bool tied = parameter.module != owner;
    table_.add(
        {indented(std::string(last_name(parameter.name)), depth),
         (parameter.packed_elements > 0 ? "4 bits, in " : "") + std::string(to_string(parameter.dtype)),
         tied ? "tied" : grouped(parameter.model_elements()), shape_text(parameter.shape)});
  }

  void print_children(const Module& module, int depth) {
    const std::vector<ModuleId>& children = module.children;
    for (std::size_t i = 0; i < children.size();) {
      std::size_t end = i + 1;
      while (end < children.size() && is_number(children[end]) && alike(graph_, children[i], children[end]))
        ++end;
      std::string name(last_name(graph_.module(children[i]).path));
      if (end - i > 1) name += fmt::format("..{}", last_name(graph_.module(children[end - 1]).path));
      print(children[i], name, static_cast<int>(end - i), depth);
      i = end;
    }
  }

  bool is_number(ModuleId id) const {
    const std::string_view name = last_name(graph_.module(id).path);
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  const ModelGraph& graph_;
  TextTable& table_;
};

bool inside(const ModelGraph& graph, ModuleId module, ModuleId ancestor) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (*id == ancestor) return true;
  }
  return false;
}

// What a forward pass keeps of an operator; a tensor kept by two operators is in both rows.
Bytes kept_bytes(const ModelGraph& graph, const Operator& op, const OperatorDescription& description) {
  Bytes sum;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (description.saved_inputs >> i & 1U) sum += graph.tensor(op.inputs[i]).bytes();
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (description.saved_outputs >> i & 1U) sum += graph.tensor(op.outputs[i]).bytes();
  }
  if (!description.has_backward) return sum;
  for (const ExtraTensor& extra : description.extras)
    sum += bytes_of(element_count(extra.shape), extra.dtype);
  return sum;
}

Flops flops_of(const std::vector<Work>& works) {
  Flops sum;
  for (const Work& work : works) sum += work.flops;
  return sum;
}

Bytes traffic_of(const std::vector<Work>& works) {
  Bytes sum;
  for (const Work& work : works) sum += work.bytes;
  return sum;
}

// Rows of the operators that `shown` picks; module paths without the first `prefix` characters.
template <typename Predicate>
std::string operators_table(const ModelGraph& graph, const TextStyle& style, std::size_t prefix,
                            const Predicate& shown) {
  TextTable table({{"operator", Align::left},
                   {"module", Align::left, true},
                   {"forward"},
                   {"backward"},
                   {"moves"},
                   {"keeps"}});
  for (const Operator& op : graph.operators) {
    if (!shown(op)) continue;
    const OperatorDescription description = describe_operator(graph, op);
    const std::string& path = graph.module(op.module).path;
    table.add({std::string(op.type->name), path.size() <= prefix ? "" : path.substr(prefix),
               figure(flops_of(description.forward)), figure(flops_of(description.backward)),
               figure(traffic_of(description.forward)), figure(kept_bytes(graph, op, description))});
  }
  return table.text(style);
}

// The operators of one layer, and of what comes before and after the layers.
std::string operators_part(const ModelGraph& graph, const TextStyle& style) {
  const auto in_class = [&](const Module& module) { return module.class_name == graph.block_class; };
  const auto block = std::find_if(graph.modules.begin(), graph.modules.end(), in_class);
  if (block == graph.modules.end()) return "";
  const auto id = make_id<ModuleId>(static_cast<std::size_t>(block - graph.modules.begin()));
  const auto in_some_block = [&](const Operator& op) {
    for (std::optional<ModuleId> at = op.module; at; at = graph.module(*at).parent) {
      if (in_class(graph.module(*at))) return true;
    }
    return false;
  };
  return fmt::format("\noperators of {} ({}), micro-batch {} x {} tokens, {}\n", block->path,
                     block->class_name, graph.micro_batch, graph.sequence_length,
                     to_string(graph.compute_dtype)) +
         operators_table(graph, style, block->path.size() + 1,
                         [&](const Operator& op) { return inside(graph, op.module, id); }) +
         "\noperators outside the layers\n" +
         operators_table(graph, style, 0, [&](const Operator& op) { return !in_some_block(op); }) +
         "(moves: least memory traffic of forward; keeps: for backward, where two keep one tensor it is in "
         "both rows)\n";
}

std::string trained_part(std::int64_t trained, std::int64_t total) {
  return fmt::format(" ({} trained, {:.2f} %; {} frozen)", grouped(trained),
                     100 * static_cast<double>(trained) / static_cast<double>(total),
                     grouped(total - trained));
}

}  // namespace

std::string model_summary(const ModelGraph& graph, const TextStyle& style) {
  const std::int64_t total = total_parameters(graph), trained = trainable_parameters(graph);
  std::string text =
      fmt::format("{}: {} parameters{}, {} layers of {}, vocabulary {}\n\n", graph.family, grouped(total),
                  trained == total ? "" : trained_part(trained, total), graph.layers,
                  grouped(parameters_per_layer(graph)), grouped(graph.vocabulary));
  TextTable table(
      {{"module", Align::left, true}, {"class", Align::left, true}, {"parameters"}, {"shape", Align::left}});
  TreePrinter(graph, table).print(ModuleId{0}, "(the model)", 1, 0);
  return text + table.text(style) + operators_part(graph, style);
}

}  // namespace shardlab
