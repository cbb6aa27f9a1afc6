// What widely shared guides say and the frameworks refute is advised by no rule.
#include <array>
#include <string>

#include "engine/base/lower_case.h"
#include "engine/doctor/registry.h"
#include "engine/doctor/report/rules_report.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// (what must not be advised, why)
struct Refuted {
  std::string_view text;
  std::string_view why;
};
constexpr auto k_refuted = std::to_array<Refuted>({
    {"nccl_timeout", "no library reads it: the timeout belongs to the process group"},
    {"from torch.distributed.fsdp import apply_activation_checkpointing", "it lives elsewhere"},
    {"checkpoint_fn", "it gives up the wrapper's choice"},
    {"fsdp_config=\"", "Trainer reads JSON"},
    {"empty_cache", "it does not lower the peak of live tensors"},
    {"discard non-local", "parameters are freed before the reduction"},
    {"torchrun -c", "no supported form"},
    {"torch.distributed._composable", "the public path is torch.distributed.fsdp"},
    {"1e8", "YAML reads it as a text"},
    {"communication_backend", "no key of DeepSpeed"},
    {"communication.compression", "no key of DeepSpeed"},
    {"override_module_apply", "it does not exclude layers"},
    {"nccl_min_nrings", "a legacy name"},
    {" nccl_async_error_handling", "renamed"},
    {"ds_acceleratorator", "misspelt"},
    {"reducedconsistencyerror", "no such exception"},
    {"distrib_description", "no file of DeepSpeed"},
    {"deepspeed_utils", "no module of DeepSpeed"},
    {"cpu_offload", "a deprecated key"},
    {"nccl_net_gdr_level=", "levels are names, and this is no first advice"},
    {"sync_module_states raises", "it broadcasts weights"},
    {"optimizer.state_dict()", "the distributed helpers are needed"},
    {"gpu-bound", "a low utilisation waits for data"},
});

TEST_CASE("no rule advises what the frameworks refute") {
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    std::string advice = " " + std::string(rule.message) + " " + rule.fix.text;
    for (const std::string& set : rule.fix.set) advice += " " + set;
    for (const LogSign& sign : rule.signs) advice += " " + std::string(sign.message);
    advice = in_lower_case(advice);
    for (const Refuted& refuted : k_refuted) {
      INFO(refuted.text << ": " << refuted.why);
      CHECK(advice.find(refuted.text) == std::string::npos);
    }
  }
}

TEST_CASE("the limit on gathers is a fix only where it is off") {
  for (const Rule& rule : all_rules()) {
    for (const std::string& set : rule.fix.set) {
      INFO(rule.id << " sets " << set);
      if (set == "parallel.prefetch.limit_all_gathers=true") CHECK(rule.id == "memory/gathers-not-limited");
    }
  }
}

TEST_CASE("sharded checkpoints are nowhere called smaller") {
  const std::string page = in_lower_case(rules_page());
  CHECK(page.find("sharded checkpoints are smaller") == std::string::npos);
  CHECK(page.find("same bytes in all, spread over ranks") != std::string::npos);
}

}  // namespace
}  // namespace shardlab
