// What transformers' Trainer decides, in version 5 and in 4.57 alike.
//
// Source: transformers 5.23.0 and 4.57.6, trainer.py; accelerate 1.15.0 below them.
#pragma once

#include <span>

#include "engine/formats/tools/export_target.h"

namespace shardlab {

std::span<const SettingRule> trainer_rules();

TargetRefusal refused_by_trainer(const ExportSubject& subject);

}  // namespace shardlab
