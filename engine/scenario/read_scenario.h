// Scenario files: YAML to Scenario and back.
//
// Every key is read by a table (engine/scenario/keys) that knows its type, range, unit and default; what the
// table does not know is an error. All errors have kind bad_input and say where: `scenarios/a.yaml:12:9` or
// `--set train.micro_batch=x`. Several (up to ten, in the order of the file) come as one Error with one line
// each.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

struct ReadScenario {
  Scenario scenario;
  ScenarioSource source;
};

// Reads the file, applies the overrides (`key=value` with dotted keys, the value in YAML), validates
// (validate.h) and refuses what is not built yet (supported.h). A scenario file of more than 256 KiB is
// refused unread.
Result<Scenario> read_scenario(const std::filesystem::path& file,
                               std::span<const std::string> overrides = {});

// The same with the place of every key.
Result<ReadScenario> read_scenario_with_source(const std::filesystem::path& file,
                                               std::span<const std::string> overrides = {});

// The same without the check for what is supported.
Result<ReadScenario> read_unbuilt_scenario(const std::filesystem::path& file,
                                           std::span<const std::string> overrides = {});

// Like read_scenario for a text; `file_name` stands for it in messages and gives Scenario::directory.
Result<Scenario> parse_scenario(std::string_view yaml, std::string_view file_name,
                                std::span<const std::string> overrides = {});

// Like parse_scenario, without the check for what is supported, and with the place of every key.
Result<ReadScenario> parse_scenario_with_source(std::string_view yaml, std::string_view file_name,
                                                std::span<const std::string> overrides = {});

// The same for a tree whose nodes know their places; `file_name` gives Scenario::directory and the name.
Result<ReadScenario> read_scenario_tree(const YamlNode& root, std::string_view file_name);

// YAML that parse_scenario reads back to the equal value (given the same directory). Only what differs from
// the defaults is written.
std::string write_scenario(const Scenario& scenario);

// The reference of all keys as Markdown: the text of docs/scenario.md.
std::string scenario_reference();

}  // namespace shardlab
