// From a key of another tool's file back to a setting of a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/formats/foreign/foreign_value.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {

struct ImportSubject;

// What becomes of the setting.
struct ReadBack {
  enum class Kind : std::uint8_t {
    leave,  // the file says nothing about it
    unset,  // the tool runs what a scenario runs that does not say it
    set,
  };
  Kind kind = Kind::leave;
  YamlNode value;    // of `set`, as docs/scenario.md writes it
  std::string note;  // where the value is not what the file says: "auto: hidden size 4096 squared"
};

using SettingOf = ReadBack (*)(const ImportSubject& subject, const ForeignValue* value);

inline ReadBack leave_setting() {
  return {};
}
inline ReadBack unset_setting() {
  return {ReadBack::Kind::unset, {}, {}};
}
inline ReadBack set_setting(std::string text, std::string note = {}) {
  return {ReadBack::Kind::set, yaml_scalar(std::move(text)), std::move(note)};
}
inline ReadBack set_setting(YamlNode value, std::string note = {}) {
  return {ReadBack::Kind::set, std::move(value), std::move(note)};
}

// Booleans and numbers as they are; unset where the key is left out.
ReadBack same_value(const ImportSubject& subject, const ForeignValue* value);

// "auto", which accelerate and the Trainer replace.
bool is_automatic(const ForeignValue* value);

// The strategy of a framework, of DeepSpeed that of a stage; empty where there is none.
std::string strategy_of(Framework framework, int zero_stage = 0);

}  // namespace shardlab
