// Which rules are left out: those that somebody asks for, and those that the scenario's own comments name.
// Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

struct DoctorComment;

class IgnoredRules {
 public:
  // `asked`: ids or codes. Comments are those of the case's job: `doctor: ignore E-16, A-05` above all keys
  // leaves the rules out, at a key only what they find there.
  IgnoredRules(const std::vector<std::string>& asked, const Case& facts, const std::vector<Rule>& rules);

  // Whether the rule is not to be applied at all.
  bool has(const Rule& rule) const;

  // Takes out what the rule found at keys whose comments name it. The reason where nothing is left; empty
  // otherwise.
  std::string take_out(const Rule& rule, std::vector<Finding>& findings) const;

  // Comments that name no rule, or stand at no key; sentences, or empty.
  const std::string& note() const { return note_; }

 private:
  struct AtKey {
    const Rule* rule = nullptr;
    std::string key;
    int line = 0;
  };

  void take_comment(const DoctorComment& comment, const std::string& file, const std::vector<Rule>& rules);

  std::vector<const Rule*> everywhere_;
  std::vector<AtKey> at_keys_;
  std::string note_;
};

}  // namespace shardlab
