#include "engine/strategies/zero3/quantized_reasons.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

using Context = InstructionContext;

const Buffer& written(const Context& c) {
  return c.step.buffer(c.self().writes.front());
}

bool takes_gather_buffer(const Context& c) {
  return c.step.buffer(c.self().allocates.front()).buffer_class == BufferClass::gather_buffer;
}
bool fills_gather_buffer(const Context& c) {
  return written(c).buffer_class == BufferClass::gather_buffer;
}
bool reads_gather_buffer(const Context& c) {
  return reads_class(c, BufferClass::gather_buffer);
}
bool writes_eight_bits(const Context& c) {
  return fills_gather_buffer(c) && written(c).dtype == DType::uint8;
}
bool gathers_scales(const Context& c) {
  return fills_gather_buffer(c) && written(c).layout == BufferLayout::opaque;
}

bool writes_reduce_buffer(const Context& c) {
  return written(c).buffer_class == BufferClass::reduce_buffer;
}
bool writes_four_bits(const Context& c) {
  return writes_reduce_buffer(c) && written(c).dtype == DType::uint8;
}
bool adds_four_bits(const Context& c) {
  return writes_four_bits(c) && c.step.buffer(c.self().reads.front()).dtype == DType::uint8;
}
bool sends_scales(const Context& c) {
  return written(c).dtype == DType::float32;
}
bool sends_between_nodes(const Context& c) {
  return c.step.groups[c.self().group->index()].ranks.across;
}

std::string eight_bits_text(const Context& c) {
  const auto user = compute_user(c);
  return fmt::format("{} needs what is gathered whole; zero_quantized_weights sends eight bits a number.",
                     user ? label(c, *user) : "A module");
}
std::string scales_text(const Context&) {
  return "A second call gathers the float32 scales, one for each block of the numbers.";
}
std::string quantize_text(const Context&) {
  return "zero_quantized_weights: blocks of this rank's elements become eight bits a number and a scale.";
}
std::string turn_back_text(const Context&) {
  return "What was gathered in eight bits is needed: it is turned back into float16.";
}
std::string to_half_text(const Context&) {
  return "DeepSpeed's quantiser reads float16: this rank's elements are cast for it.";
}
std::string from_half_text(const Context&) {
  return "DeepSpeed's quantiser writes float16: the parameter is cast to its own dtype.";
}
std::string own_memory_text(const Context&) {
  return "Each of the parameters that were gathered together gets memory of its own.";
}
std::string room_text(const Context&) {
  return "All ranks' elements will arrive here in eight bits, which DeepSpeed takes memory for first.";
}

std::string four_bits_text(const Context&) {
  return "zero_quantized_gradients: a gradient becomes four bits a number, two to a byte, and a scale a "
         "block.";
}
std::string near_sum_text(const Context&) {
  return "What the ranks of this node have sent is added up and becomes four bits again.";
}
std::string widened_text(const Context&) {
  return "What the other nodes have sent is turned back into float16.";
}
std::string sent_scales_text(const Context&) {
  return "The scales of the blocks travel by a call of their own.";
}
std::string between_nodes_text(const Context& c) {
  return fmt::format("One rank of each of {} nodes: each receives the sums of its own elements.",
                     group_size(c));
}
std::string within_node_text(const Context& c) {
  return fmt::format("The {} ranks of a node exchange their parts of the gradient, four bits a number.",
                     group_size(c));
}
std::string first_part_text(const Context&) {
  return "The parts of all nodes lie one after the other: their sum begins with the first.";
}
std::string other_parts_text(const Context&) {
  return "The parts of the other nodes are added, and the sum is divided by the number of nodes.";
}

}  // namespace

std::vector<ReasonRule> quantized_reasons() {
  using K = InstructionKind;
  const std::vector<std::string> zero{"parallel.zero", "parallel.strategy"};
  const std::vector<std::string> cast{"precision.param", "parallel.zero"};
  return {
      {K::Alloc, takes_gather_buffer, room_text, zero},
      {K::Quantize, adds_four_bits, near_sum_text, zero},
      {K::Quantize, writes_four_bits, four_bits_text, zero},
      {K::Quantize, writes_reduce_buffer, widened_text, zero},
      {K::Quantize, writes_eight_bits, quantize_text, zero},
      {K::Quantize, nullptr, turn_back_text, zero},
      {K::AllGather, writes_eight_bits, eight_bits_text, zero},
      {K::AllGather, gathers_scales, scales_text, zero},
      {K::Cast, fills_gather_buffer, to_half_text, cast},
      {K::Cast, reads_gather_buffer, from_half_text, cast},
      {K::Unpack, fills_gather_buffer, own_memory_text, zero},
      {K::AllToAll, sends_scales, sent_scales_text, zero},
      {K::AllToAll, sends_between_nodes, between_nodes_text, zero},
      {K::AllToAll, nullptr, within_node_text, zero},
      {K::Unpack, writes_reduce_buffer, first_part_text, zero},
      {K::Accumulate, writes_reduce_buffer, other_parts_text, zero},
  };
}

}  // namespace shardlab
