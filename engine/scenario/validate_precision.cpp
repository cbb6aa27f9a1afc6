// Mixed precision: what each framework can do, and what has no effect.
#include <fmt/core.h>

#include "engine/scenario/complaints.h"

namespace shardlab {
namespace {

// FullyShardedDataParallel's MixedPrecision has no output dtype, fully_shard's MixedPrecisionPolicy no buffer
// dtype.
void check_framework(Complaints& c) {
  const PrecisionSpec& p = c.scenario.precision;
  const std::string& strategy = c.scenario.parallel.strategy;
  const bool units = strategy == "fsdp1" || strategy == "fsdp2" || strategy == "native";
  if (p.keep_low_precision_grads && strategy != "fsdp1") {
    c.refuse("precision.keep_low_precision_grads", "has no effect with strategy " + strategy,
             "it belongs to fsdp1");
  }
  if (p.output && (!units || strategy == "fsdp1")) {
    c.refuse("precision.output", fmt::format("has no effect with strategy {}: it casts no outputs", strategy),
             "remove it, or use fsdp2");
  }
  if (p.buffer && *p.buffer != DType::float32 && strategy != "fsdp1") {
    c.refuse("precision.buffer",
             fmt::format("has no effect with strategy {}: it leaves buffers as they are", strategy),
             "remove it, or use fsdp1");
  }
  if (p.cast_forward_inputs && !units) {
    c.refuse("precision.cast_forward_inputs", "has no effect with strategy " + strategy,
             "remove it, or use fsdp1 or fsdp2");
  }
  const bool single_units = !c.scenario.parallel.wrap.overrides.empty();
  if (p.cast_forward_inputs && units && !p.param && !single_units) {
    c.refuse("precision.cast_forward_inputs", "has no effect without precision.param",
             "set precision.param, or remove it");
  }
  const WrapSpec& wrap = c.scenario.parallel.wrap;
  const bool alike = !single_units && wrap.ignored.empty() && (!p.output || p.output == p.param);
  const bool by_default = strategy != "fsdp1";  // MixedPrecision.cast_forward_inputs is False
  if (p.cast_forward_inputs && units && p.param && alike && *p.cast_forward_inputs != by_default) {
    c.refuse("precision.cast_forward_inputs",
             "has no effect where all units compute in precision.param: nothing would be cast", "remove it");
  }
}

void check_unit_setting(Complaints& c, const std::string& key, const std::string& name) {
  const std::string& strategy = c.scenario.parallel.strategy;
  if (name == "precision.buffer") {
    c.refuse(key,
             "precision.buffer has no effect on single units: the rotary frequencies are one buffer for all",
             "set precision.buffer");
  }
  if (name == "precision.output" && strategy == "fsdp1") {
    c.refuse(key, "precision.output has no effect with strategy fsdp1: it casts no outputs",
             "use fsdp2, or precision.cast_forward_inputs on the units that read them");
  }
  if (name == "reshard_after_forward" && strategy != "fsdp2" && strategy != "native") {
    c.refuse(key, "reshard_after_forward has no effect with strategy " + strategy,
             "it belongs to fsdp2 and native");
  }
}

}  // namespace

void validate_precision(Complaints& c) {
  check_framework(c);
  const std::vector<WrapOverride>& overrides = c.scenario.parallel.wrap.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const std::string key = fmt::format("parallel.wrap.overrides[{}].settings", i);
    for (const auto& [name, text] : overrides[i].settings) check_unit_setting(c, key, name);
  }
}

}  // namespace shardlab
