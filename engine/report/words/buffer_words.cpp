// What the buffers of a plan hold.

#include "engine/base/with_spaces.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

// "rope table" of "constant.rope_table".
std::string own_name(const Buffer& buffer, bool last) {
  const std::size_t dot = last ? buffer.name.rfind('.') : buffer.name.find('.');
  return with_spaces(last && dot != std::string::npos ? buffer.name.substr(dot + 1)
                                                      : buffer.name.substr(0, dot));
}

std::string state_words(BufferRole role) {
  switch (role) {
    case BufferRole::exp_avg: return "first moments";
    case BufferRole::exp_avg_sq: return "second moments";
    case BufferRole::momentum: return "momentum";
    default: return "optimizer state";
  }
}

std::string scalar_words(const Buffer& buffer) {
  switch (buffer.role) {
    case BufferRole::norms: return "norms of the gradients";
    case BufferRole::found_inf: return "mark of gradients that are not finite";
    default: return own_name(buffer, false);
  }
}

std::string what_it_holds(const Buffer& buffer) {
  switch (buffer.buffer_class) {
    case BufferClass::parameter: return "parameters";
    case BufferClass::parameter_shard: return "parameter shards";
    case BufferClass::gathered_parameters: return "gathered parameters";
    case BufferClass::gather_buffer: return "gather buffer";
    case BufferClass::gradient: return "gradients";
    case BufferClass::gradient_shard: return "gradient shards";
    case BufferClass::reduce_buffer:
      return buffer.role == BufferRole::bucket || buffer.role == BufferRole::first_bucket ? "gradient buckets"
                                                                                          : "reduce buffer";
    case BufferClass::optimizer_state: return state_words(buffer.role);
    case BufferClass::activation: return buffer.saved_by ? "saved activations" : "activations";
    case BufferClass::activation_gradient: return "gradients of activations";
    case BufferClass::batch: return own_name(buffer, false) + " of the batch";
    case BufferClass::constant: return own_name(buffer, true);
    case BufferClass::scalar: return scalar_words(buffer);
    case BufferClass::workspace:
      return buffer.role == BufferRole::staging ? "staging buffers of the drive" : "workspace";
  }
  return own_name(buffer, false);
}

bool is_border(const Buffer& buffer) {
  return buffer.tensor && (buffer.buffer_class == BufferClass::activation ||
                           buffer.buffer_class == BufferClass::activation_gradient);
}

}  // namespace

// The teacher keeps nothing but what its last segment makes: its logits.
BufferPhrase PlanWords::tensor(const Buffer& buffer) const {
  const std::size_t id = buffer.tensor->index();
  const std::optional<SegmentId> maker = id < maker_.size() ? maker_[id] : std::nullopt;
  if (maker && maker == teachers_last_) return {"the teacher's logits", {}, {}};
  const bool gradient = buffer.buffer_class == BufferClass::activation_gradient;
  if (!maker) return {what_it_holds(buffer), {}, {}};
  return {gradient ? "gradient of the output" : "output", segment(*maker), {}};
}

BufferPhrase PlanWords::buffer(BufferId id) const {
  const Buffer& self = plan_.buffer(id);
  BufferPhrase phrase;
  if (is_border(self)) {
    phrase = tensor(self);
  } else {
    phrase.what = what_it_holds(self);
    if (self.saved_by) {
      phrase.place = segment(*self.saved_by);
    } else if (self.unit) {
      phrase.place = unit(*self.unit);
    }
  }
  phrase.batch = batch(self.micro_batch);
  return phrase;
}

}  // namespace shardlab
