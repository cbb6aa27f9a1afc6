// What widely shared guides say and the frameworks' sources refute: no rule, page or lesson may advise it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engine/base/lower_case.h"

namespace shardlab::test {

struct Refuted {
  std::string_view text;  // in lower case, with single blanks
  std::string_view why;
};
inline constexpr auto k_refuted = std::to_array<Refuted>({
    {"nccl_timeout", "no library reads it: the timeout belongs to the process group"},
    {"limit_all_gathers=true", "it is the default"},
    {"from torch.distributed.fsdp import apply_activation_checkpointing", "it lives elsewhere"},
    {"checkpoint_fn", "it gives up the wrapper's choice"},
    {"lambda module, recurse", "the policy is called with one argument"},
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
    {"manager.py", "no file of a checkpoint"},
    {"deepspeed_utils", "no module of DeepSpeed"},
    {"cpu_offload", "a deprecated key"},
    {"nccl_net_gdr_level=", "levels are names, and this is no first advice"},
    {"nccl_socket_ifname=gloo", "it is an interface's name"},
    {"sync_module_states raises", "it broadcasts weights"},
    {"optimizer.state_dict()", "the distributed helpers are needed"},
    {"gpu-bound", "a low utilisation waits for data"},
    {"full_shard\"", "without auto_wrap nothing is wrapped"},
    {"sharded checkpoints are smaller", "only each file is"},
});

// Where such words stand for another reason; each must be there.
struct Mention {
  std::string_view where;  // a rule's id, or a file
  std::string_view text;
  std::string_view why;
};
inline constexpr auto k_mentions = std::to_array<Mention>({
    {"memory/gathers-not-limited", "limit_all_gathers=true", "where it was turned off"},
    {"configuration/ignored-section", "communication_backend", "it says that such sections do nothing"},
    {"environment/unknown-variables", " nccl_async_error_handling", "it says what became of it"},
    {"docs/doctor-machine.md", "nccl_timeout", "the doctor says that nobody reads it"},
    {"docs/allocator.md", "empty_cache", "what an operation of a recording means"},
    {"docs/decisions.md", "1e8", "why it is read as a text"},
    {"docs/scenario.md", "override_module_apply", "a key that DeepSpeed's files have"},
    {"docs/formats.md", "cpu_offload", "a key that other tools' files have"},
    {"scenarios/lessons/17-reserved/lesson.yaml", "empty_cache",
     "a wrong answer, with what is wrong about it"},
});

inline bool is_mention(std::string_view where, std::string_view text) {
  for (const Mention& mention : k_mentions) {
    if (mention.where == where && mention.text == text) return true;
  }
  return false;
}

// What of it the text has, with the reason why it is wrong; `where` is a rule's id or a file.
inline std::vector<std::string> refuted_in(std::string_view where, const std::string& text) {
  std::string words = " ";
  for (const char c : in_lower_case(text)) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_blank) words += c;
    if (is_blank && !words.ends_with(' ')) words += ' ';
  }
  std::vector<std::string> found;
  for (const Refuted& refuted : k_refuted) {
    if (words.find(refuted.text) != std::string::npos && !is_mention(where, refuted.text))
      found.push_back(fmt::format("{}: '{}': {}", where, refuted.text, refuted.why));
  }
  return found;
}

}  // namespace shardlab::test
