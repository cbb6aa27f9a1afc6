#include "engine/formats/script/script_parts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_alone = R"py(

def shard(model):
    """One rank has everything."""
    return model.to(DEVICE)
)py";

}  // namespace

std::string script_sharding(const ExportSubject& subject) {
  switch (framework(subject)) {
    case Framework::ddp: return ddp_sharding(subject);
    case Framework::fsdp1: return fsdp1_sharding(subject);
    case Framework::fsdp2: return fsdp2_sharding(subject);
    case Framework::deepspeed: return deepspeed_sharding(subject);
    case Framework::none:
    case Framework::shardlab: break;
  }
  return std::string(k_alone);
}

std::string sharding_words(const ExportSubject& subject) {
  switch (framework(subject)) {
    case Framework::ddp: return "DistributedDataParallel of PyTorch 2.11";
    case Framework::fsdp1: return "FullyShardedDataParallel of PyTorch 2.11";
    case Framework::fsdp2: return "fully_shard of PyTorch 2.11";
    case Framework::deepspeed: return "ZeRO of DeepSpeed 0.19";
    case Framework::none:
    case Framework::shardlab: break;
  }
  return "PyTorch 2.11 on one rank";
}

}  // namespace shardlab
