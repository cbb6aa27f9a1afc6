// All rules, and how to find one.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/doctor/log/sign_index.h"
#include "engine/doctor/rule.h"

namespace shardlab {

// In the order of rules/rule_list.h: by topic.
const std::vector<Rule>& all_rules();

// What their signs look for in logs; made at the first call.
const SignIndex& all_signs();

// By its id or one of its codes, in any case of letters; bad_input that names the nearest otherwise.
Result<const Rule*> find_rule(std::string_view id_or_code);

// "memory" of "memory/fragmentation".
std::string_view topic_of(const Rule& rule);

}  // namespace shardlab
