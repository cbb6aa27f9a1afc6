// Settings that no tool's file says, because the user's program does: its model, its data, its optimizer.
#pragma once

#include <span>

#include "engine/formats/tools/setting_rule.h"
#include "engine/model/lora/lora_spec.h"

namespace shardlab {

// Lines of a program that trains a transformers model with PyTorch's optimizer.
std::span<const SettingRule> program_rules();

// Settings that whoever starts the ranks says.
std::span<const SettingRule> launched_rules();

// Settings about predicting, searching and measuring, which no program knows.
std::span<const SettingRule> unspoken_rules();

// "torch.optim.AdamW(model.parameters(), lr=0.001, ...)", as the scenario describes it.
std::string optimizer_call(const ExportSubject& subject);

// "r=16, lora_alpha=32, ...": what peft's LoraConfig is given.
std::string adapter_arguments(const LoraSpec& lora);

}  // namespace shardlab
