#include "engine/formats/profiler/work_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace shardlab {
namespace {

constexpr std::string_view k_autograd = "autograd::engine::evaluate_function";
constexpr std::size_t k_longest_name = 96;

// Lower case, letters and digits alone: _all_gather_base, AllGather and allgather are one.
std::string letters(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) text += static_cast<char>(std::tolower(letter));
  }
  return text;
}

std::int64_t size_of_type(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> k_sizes = {
      {{"float", 4},         {"c10::BFloat16", 2}, {"c10::Half", 2},     {"double", 8},      {"int", 4},
       {"long int", 8},      {"short int", 2},     {"unsigned char", 1}, {"signed char", 1}, {"bool", 1},
       {"Float", 4},         {"BFloat16", 2},      {"Half", 2},          {"Double", 8},      {"Int", 4},
       {"Long", 8},          {"Short", 2},         {"Byte", 1},          {"Char", 1},        {"Bool", 1},
       {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}}};
  for (const auto& [name, size] : k_sizes)
    if (name == dtype) return size;
  return 0;
}

}  // namespace

std::string short_name(std::string_view name) {
  if (name.starts_with(k_autograd)) name.remove_prefix(std::min(name.size(), k_autograd.size() + 2));
  if (name.starts_with("void ")) name.remove_prefix(5);
  const std::size_t end = name.find_first_of("<(", 1);
  std::string text(name.substr(0, std::min({end, name.size(), k_longest_name})));
  for (char& c : text)
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || std::iscntrl(static_cast<unsigned char>(c)) != 0)
      c = '_';
  while (!text.empty() && text.back() == '_') text.pop_back();
  return text.empty() ? "unnamed" : text;
}

bool is_gloo(std::string_view name) {
  return name.starts_with("gloo:");
}

std::optional<InstructionKind> collective_kind(std::string_view name) {
  if (!name.starts_with("nccl") && !is_gloo(name)) return std::nullopt;
  using K = InstructionKind;
  // Longer names first: a reduce-scatter is no reduce.
  constexpr std::array<std::pair<std::string_view, K>, 7> k_kinds = {{{"reducescatter", K::ReduceScatter},
                                                                      {"allgather", K::AllGather},
                                                                      {"allreduce", K::AllReduce},
                                                                      {"broadcast", K::Broadcast},
                                                                      {"alltoall", K::AllToAll},
                                                                      {"sendrecv", K::AllToAll},
                                                                      {"reduce", K::Reduce}}};
  const std::string text = letters(name);
  for (const auto& [word, kind] : k_kinds)
    if (text.find(word) != std::string::npos) return kind;
  return std::nullopt;
}

ProfilerCollective completed(ProfilerCollective collective, std::optional<int> all_ranks) {
  if (!is_gloo(collective.name) || collective.group_size > 0) return collective;
  collective.group_size = all_ranks.value_or(0);
  if (collective_kind(collective.name) != InstructionKind::AllGather) return collective;
  if (collective.group_size > 0)
    collective.elements_out = collective.elements_in * collective.group_size;
  else
    collective.elements_in = 0;  // a part of the full side, nobody knows which
  return collective;
}

Bytes full_side(const ProfilerCollective& collective) {
  constexpr std::int64_t k_most = std::int64_t{1} << 50;
  const std::int64_t elements = std::max(collective.elements_in, collective.elements_out);
  if (elements <= 0 || elements > k_most) return {};
  return Bytes{elements * size_of_type(collective.dtype)};
}

std::optional<DType> dtype_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 8> k_types = {{{"float", DType::float32},
                                                                          {"Float", DType::float32},
                                                                          {"c10::BFloat16", DType::bfloat16},
                                                                          {"BFloat16", DType::bfloat16},
                                                                          {"c10::Half", DType::float16},
                                                                          {"Half", DType::float16},
                                                                          {"double", DType::float64},
                                                                          {"Double", DType::float64}}};
  for (const auto& [known, dtype] : k_types)
    if (known == name) return dtype;
  return std::nullopt;
}

std::optional<InstructionKind> phase_of_name(std::string_view name) {
  using K = InstructionKind;
  constexpr std::array<std::pair<std::string_view, K>, 18> k_phases = {
      {{k_autograd, K::Backward},
       {"FSDP::pre_backward", K::Backward},
       {"FSDP::post_backward", K::Backward},
       {"FSDP::backward_prefetch", K::Backward},
       {"FSDP::root_post_backward", K::Backward},
       {"FSDP::pre_forward", K::Forward},
       {"FSDP::root_pre_forward", K::Forward},
       {"FullyShardedDataParallel._pre_backward", K::Backward},
       {"FullyShardedDataParallel._post_backward", K::Backward},
       {"FullyShardedDataParallel.forward", K::Forward},
       {"DistributedDataParallel.forward", K::Forward},
       {"DeepSpeedEngine.forward", K::Forward},
       {"DeepSpeedEngine.backward", K::Backward},
       {"DeepSpeedEngine.allreduce_gradients", K::Backward},
       {"DeepSpeedEngine.step", K::OptimizerStep},
       {"Optimizer.step", K::OptimizerStep},
       {"Optimizer.zero_grad", K::ZeroGradients},
       {"enumerate(DataLoader)", K::LoadBatch}}};
  for (const auto& [beginning, kind] : k_phases)
    if (name.starts_with(beginning)) return kind;
  return std::nullopt;
}

bool is_hook_of_fsdp(std::string_view name) {
  return name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel._");
}

std::optional<std::string> module_of_mark(std::string_view name) {
  constexpr std::string_view k_prefetch = "_prefetch for ";
  if (!name.starts_with("FSDP::")) return std::nullopt;
  if (const std::size_t at = name.find(k_prefetch); at != std::string_view::npos)
    return short_name(name.substr(at + k_prefetch.size()));
  constexpr std::array<std::string_view, 4> k_marks = {"FSDP::all_gather", "FSDP::pre_forward",
                                                       "FSDP::pre_backward", "FSDP::post_backward_reduce"};
  if (std::none_of(k_marks.begin(), k_marks.end(),
                   [name](std::string_view mark) { return name.starts_with(mark); }))
    return std::nullopt;
  const std::size_t open = name.find(" (");
  if (open == std::string_view::npos) return "root";
  name.remove_prefix(open + 2);
  if (name.ends_with(')')) name.remove_suffix(1);
  return short_name(name);
}

std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view k_step = "ProfilerStep#";
  if (!name.starts_with(k_step)) return std::nullopt;
  name.remove_prefix(k_step.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace shardlab
