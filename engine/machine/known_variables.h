// Variables that the libraries of communication read, and names that they do not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/machine/machine_facts.h"

namespace shardlab {

struct KnownVariables {
  std::vector<std::string> read;
  std::map<std::string, std::string, std::less<>> renamed;  // to what
  std::map<std::string, std::string, std::less<>> unread;   // why
};

// assets/environment/variables.yaml. Errors: those of reading it.
Result<KnownVariables> known_variables();

// A name of NCCL, Gloo or torch's communication that was renamed, is never read, or differs from one that is
// read in two characters at most. Others may be of a plugin or another version, and are nothing strange.
std::optional<StrangeVariable> strange_variable(std::string_view name, const KnownVariables& known);

}  // namespace shardlab
