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

}  // namespace

std::vector<ReasonRule> quantized_reasons() {
  using K = InstructionKind;
  const std::vector<std::string> zero{"parallel.zero", "parallel.strategy"};
  const std::vector<std::string> cast{"precision.param", "parallel.zero"};
  return {
      {K::Alloc, takes_gather_buffer, room_text, zero},
      {K::Quantize, writes_eight_bits, quantize_text, zero},
      {K::Quantize, nullptr, turn_back_text, zero},
      {K::AllGather, writes_eight_bits, eight_bits_text, zero},
      {K::AllGather, gathers_scales, scales_text, zero},
      {K::Cast, fills_gather_buffer, to_half_text, cast},
      {K::Cast, reads_gather_buffer, from_half_text, cast},
      {K::Unpack, fills_gather_buffer, own_memory_text, zero},
  };
}

}  // namespace shardlab
