#include "engine/formats/imports/case_checks.h"

#include <string>

#include <fmt/format.h>

#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"

namespace shardlab {

void check_two_systems(const ImportSubject& subject, const std::filesystem::path* unnamed,
                       Problems& problems) {
  if (subject.deepspeed == nullptr) return;
  const std::string zero = to_string(subject.deepspeed->place);
  if (trainer_has_fsdp(subject))
    problems.add(subject.in_trainer("fsdp")->place,
                 "two sharding systems at once: fsdp stands beside DeepSpeed's configuration",
                 "DeepSpeed is at " + zero);
  else if (subject.accelerate != nullptr && accelerate_kind(subject) == AccelerateKind::fsdp)
    problems.add(
        subject.in_accelerate("distributed_type")->place,
        "two sharding systems at once: distributed_type FSDP stands beside DeepSpeed's configuration",
        "DeepSpeed is at " + zero);
  else if (subject.accelerate != nullptr && accelerate_kind(subject) != AccelerateKind::deepspeed &&
           subject.in_accelerate("distributed_type") != nullptr && subject.trainer == nullptr)
    problems.add(subject.in_accelerate("distributed_type")->place,
                 "DeepSpeed's configuration is given, and distributed_type is another",
                 "distributed_type: DEEPSPEED");
  else if (unnamed != nullptr && subject.accelerate != nullptr &&
           accelerate_kind(subject) == AccelerateKind::deepspeed)
    problems.add(subject.in_accelerate("distributed_type")->place,
                 fmt::format("nothing names {}: the DeepSpeed plugin makes a configuration of its own",
                             unnamed->string()),
                 "deepspeed_config: {deepspeed_config_file: PATH} names it");
}

void check_launched_ranks(const LaunchScript& launch, const ImportSubject& subject, Problems& problems) {
  if (launch.launcher == RankStarter::accelerate || subject.accelerate == nullptr) return;
  const ImportedRanks launched = launched_ranks(launch);
  const auto all = processes(subject);
  if (!launched.per_node || !all || launched.nodes.value_or(1) * *launched.per_node == *all) return;
  problems.add(launch.place,
               fmt::format("starts {} ranks, the accelerate file says num_processes {}",
                           launched.nodes.value_or(1) * *launched.per_node, *all),
               "the same number in both", ErrorCode::inconsistent_launch);
}

}  // namespace shardlab
