#include "engine/doctor/registry.h"

#include <string>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Rule> make_rules() {
  std::vector<Rule> rules;
#define SHARDLAB_ADD_RULES(name) \
  for (Rule & rule : name##_rules()) rules.push_back(std::move(rule));
  SHARDLAB_RULES(SHARDLAB_ADD_RULES)
#undef SHARDLAB_ADD_RULES
  return rules;
}

bool is_called(const Rule& rule, const std::string& wanted) {
  if (in_lower_case(rule.id) == wanted) return true;
  for (const std::string_view code : rule.codes) {
    if (in_lower_case(code) == wanted) return true;
  }
  return false;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

const SignIndex& all_signs() {
  static const SignIndex index(all_rules());
  return index;
}

Result<const Rule*> find_rule(std::string_view id_or_code) {
  const std::string wanted = in_lower_case(id_or_code);
  std::vector<std::string> names;
  for (const Rule& rule : all_rules()) {
    if (is_called(rule, wanted)) return &rule;
    names.emplace_back(rule.id);
  }
  const auto near = nearest_name(wanted, names);
  return bad_input("doctor", "no rule or code is called '" + std::string(id_or_code) + "'",
                   near ? "did you mean '" + *near + "'?" : "`shardlab doctor --rules` lists them");
}

std::string_view topic_of(const Rule& rule) {
  return rule.id.substr(0, rule.id.find('/'));
}

}  // namespace shardlab
