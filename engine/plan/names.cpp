// Names of the plan's enumerations, as they stand in its text form.
#include <array>
#include <utility>

#include "engine/plan/buffer.h"
#include "engine/plan/instruction.h"

namespace shardlab {
namespace {

template <typename Enum, std::size_t N>
std::string_view name_of(const std::array<std::pair<Enum, std::string_view>, N>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "?";
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_of(const std::array<std::pair<Enum, std::string_view>, N>& names,
                             std::string_view wanted) {
  for (const auto& [value, name] : names) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

using K = InstructionKind;
constexpr std::array<std::pair<K, std::string_view>, 26> k_kinds{{{K::Forward, "Forward"},
                                                                  {K::Recompute, "Recompute"},
                                                                  {K::Backward, "Backward"},
                                                                  {K::AllGather, "AllGather"},
                                                                  {K::ReduceScatter, "ReduceScatter"},
                                                                  {K::Reduce, "Reduce"},
                                                                  {K::AllReduce, "AllReduce"},
                                                                  {K::Broadcast, "Broadcast"},
                                                                  {K::AllToAll, "AllToAll"},
                                                                  {K::Cast, "Cast"},
                                                                  {K::Pack, "Pack"},
                                                                  {K::Unpack, "Unpack"},
                                                                  {K::Quantize, "Quantize"},
                                                                  {K::Copy, "Copy"},
                                                                  {K::Accumulate, "Accumulate"},
                                                                  {K::Alloc, "Alloc"},
                                                                  {K::Free, "Free"},
                                                                  {K::HostWait, "HostWait"},
                                                                  {K::GradientNorms, "GradientNorms"},
                                                                  {K::Unscale, "Unscale"},
                                                                  {K::ClipGradients, "ClipGradients"},
                                                                  {K::OptimizerStep, "OptimizerStep"},
                                                                  {K::ZeroGradients, "ZeroGradients"},
                                                                  {K::Initialize, "Initialize"},
                                                                  {K::LoadBatch, "LoadBatch"},
                                                                  {K::Marker, "Marker"}}};

using C = BufferClass;
constexpr std::array<std::pair<C, std::string_view>, k_buffer_classes> k_classes{
    {{C::parameter, "parameter"},
     {C::parameter_shard, "parameter_shard"},
     {C::gathered_parameters, "gathered_parameters"},
     {C::gather_buffer, "gather_buffer"},
     {C::gradient, "gradient"},
     {C::gradient_shard, "gradient_shard"},
     {C::reduce_buffer, "reduce_buffer"},
     {C::optimizer_state, "optimizer_state"},
     {C::activation, "activation"},
     {C::activation_gradient, "activation_gradient"},
     {C::batch, "batch"},
     {C::constant, "constant"},
     {C::scalar, "scalar"},
     {C::workspace, "workspace"}}};

constexpr std::array<std::pair<ReduceOperation, std::string_view>, 3> k_operations{
    {{ReduceOperation::none, "none"}, {ReduceOperation::sum, "sum"}, {ReduceOperation::average, "average"}}};

constexpr std::array<std::pair<MemorySpace, std::string_view>, 4> k_spaces{
    {{MemorySpace::device, "device"},
     {MemorySpace::pinned_host, "pinned_host"},
     {MemorySpace::pageable_host, "pageable_host"},
     {MemorySpace::disk, "disk"}}};

constexpr std::array<std::pair<BufferLayout, std::string_view>, 7> k_layouts{
    {{BufferLayout::opaque, "opaque"},
     {BufferLayout::parameters, "parameters"},
     {BufferLayout::row_shards, "row_shards"},
     {BufferLayout::gathered_row_shards, "gathered_row_shards"},
     {BufferLayout::flat, "flat"},
     {BufferLayout::flat_shard, "flat_shard"},
     {BufferLayout::trained_flat_shard, "trained_flat_shard"}}};

}  // namespace

BufferRole role_of_name(std::string_view name) {
  return parse_word<BufferRole>(name.substr(0, name.find('.'))).value_or(BufferRole::other);
}

std::string_view to_string(InstructionKind kind) {
  return name_of(k_kinds, kind);
}
std::optional<InstructionKind> parse_instruction_kind(std::string_view name) {
  return value_of(k_kinds, name);
}
std::string_view to_string(BufferClass buffer_class) {
  return name_of(k_classes, buffer_class);
}
std::optional<BufferClass> parse_buffer_class(std::string_view name) {
  return value_of(k_classes, name);
}
std::string_view to_string(ReduceOperation operation) {
  return name_of(k_operations, operation);
}
std::optional<ReduceOperation> parse_reduce_operation(std::string_view name) {
  return value_of(k_operations, name);
}
std::string_view to_string(MemorySpace space) {
  return name_of(k_spaces, space);
}
std::optional<MemorySpace> parse_memory_space(std::string_view name) {
  return value_of(k_spaces, name);
}
std::string_view to_string(BufferLayout layout) {
  return name_of(k_layouts, layout);
}
std::optional<BufferLayout> parse_buffer_layout(std::string_view name) {
  return value_of(k_layouts, name);
}

}  // namespace shardlab
