#include "tests/timelines/timeline_file.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace shardlab::test {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::uint32_t position(const Words& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("unknown name " + name);
  return static_cast<std::uint32_t>(found - names.begin());
}

bool contains(const Words& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The file before a case's values are filled in.
struct Sheet {
  HostBehaviour host = HostBehaviour::asynchronous;
  Words streams, groups, resources, held, values;
  Words computing, communicating;  // what either takes of resources, unless its row says
  Contention contention;
  std::vector<Words> cases, rows;

  void read(const Words& words) {
    const Words rest(words.begin() + 1, words.end());
    const std::string& key = words[0];
    if (key == "host")
      host = rest.at(0) == "synchronous" ? HostBehaviour::synchronous : HostBehaviour::asynchronous;
    else if (key == "streams")
      streams = rest;
    else if (key == "groups")
      groups = rest;
    else if (key == "values")
      values = rest;
    else if (key == "case")
      cases.push_back(rest);
    else if (key == "compute_beside_collective")
      contention.compute_beside_collective = contention_rate(std::stod(rest.at(0)));
    else if (key == "collective_beside_compute")
      contention.collective_beside_compute = contention_rate(std::stod(rest.at(0)));
    else if (key == "resources")
      resources = rest;
    else if (key == "held")
      held = rest;
    else if (key == "computing")
      computing = rest;
    else if (key == "communicating")
      communicating = rest;
    else
      rows.push_back(words);
  }
};

class CaseBuilder {
 public:
  CaseBuilder(const Sheet& sheet, std::size_t index) : sheet_(sheet), index_(index) {
    const Words& values = sheet.cases[index];
    for (std::size_t i = 0; i < sheet.values.size(); ++i)
      values_[sheet.values[i]] = std::stoll(values.at(i + 1));
    case_.name = values.at(0);
    case_.step = values_.at("step");
    case_.options = {sheet.host, static_cast<std::uint32_t>(sheet.streams.size()),
                     static_cast<std::uint32_t>(sheet.groups.size()),
                     static_cast<std::uint32_t>(sheet.resources.size()), sheet.contention};
  }

  TimelineCase build() {
    for (const Words& row : sheet_.rows) add(row);
    for (std::size_t i = 0; i < case_.instructions.size(); ++i) {
      case_.instructions[i].waits = case_.waits[i];
      case_.instructions[i].uses = case_.uses[i];
    }
    return std::move(case_);
  }

 private:
  void add(const Words& row) {
    TimedInstruction instruction;
    std::vector<InstructionId> waits;
    ExpectedSpan expected{row[0], {}};
    Words taken;
    if (row[0] == "wait") {
      instruction.occupation = Occupation::host_wait;
      waits.push_back(id_of(row.at(1)));
      expected.name += " " + row[1];
    } else {
      instruction.stream = position(sheet_.streams, row.at(1));
      instruction.duration = {number(row.at(2))};
      instruction.occupation = instruction.duration.value > 0 ? Occupation::compute : Occupation::nothing;
      read_options(row, instruction, waits, taken, expected);
      if (taken.empty() && instruction.occupation == Occupation::collective) taken = sheet_.communicating;
      if (taken.empty() && instruction.occupation == Occupation::compute) taken = sheet_.computing;
    }
    case_.uses.push_back(uses(taken));
    case_.instructions.push_back(instruction);
    case_.waits.push_back(std::move(waits));
    case_.expected.push_back(std::move(expected));
  }

  void read_options(const Words& row, TimedInstruction& instruction, std::vector<InstructionId>& waits,
                    Words& taken, ExpectedSpan& expected) {
    for (std::size_t i = 3; i < row.size();) {
      const std::string& option = row[i++];
      if (option == "group") {
        instruction.group = position(sheet_.groups, row.at(i++));
        instruction.occupation = Occupation::collective;
      } else if (option == "drive") {
        instruction.occupation = Occupation::drive;
      } else if (option == "after") {
        while (i < row.size() && known(row[i])) waits.push_back(id_of(row[i++]));
      } else if (option == "launch") {
        instruction.launch = {number(row.at(i++))};
      } else if (option == "issue") {
        instruction.issue = {number(row.at(i++))};
      } else if (option == "takes") {
        while (i < row.size() && contains(sheet_.resources, row[i])) {
          taken.insert(taken.end(), {row[i], row.at(i + 1)});
          i += 2;
        }
      } else if (option == "=") {
        expected.span = span(row.at(i + index_));
        return;
      } else {
        throw std::runtime_error("unknown option " + option + " of " + row[0]);
      }
    }
  }

  static std::optional<std::pair<std::int64_t, std::int64_t>> span(const std::string& text) {
    if (text == "-") return {};
    const std::size_t dash = text.find('-');
    return std::pair{std::stoll(text.substr(0, dash)), std::stoll(text.substr(dash + 1))};
  }

  // NAME FRACTION ...
  std::vector<ResourceUse> uses(const Words& words) const {
    std::vector<ResourceUse> uses;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
      uses.push_back({position(sheet_.resources, words[i]), resource_share(std::stod(words[i + 1])),
                      contains(sheet_.held, words[i])});
    return uses;
  }

  bool known(const std::string& name) const {
    return std::any_of(case_.expected.begin(), case_.expected.end(),
                       [&](const ExpectedSpan& row) { return row.name == name; });
  }
  InstructionId id_of(const std::string& name) const {
    for (std::size_t i = 0; i < case_.expected.size(); ++i) {
      if (case_.expected[i].name == name) return make_id<InstructionId>(i);
    }
    throw std::runtime_error("unknown instruction " + name);
  }
  std::int64_t number(const std::string& word) const {
    const auto found = values_.find(word);
    return found == values_.end() ? std::stoll(word) : found->second;
  }

  const Sheet& sheet_;
  std::size_t index_;
  std::map<std::string, std::int64_t> values_;
  TimelineCase case_;
};

}  // namespace

std::vector<TimelineCase> read_timeline_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  Sheet sheet;
  for (std::string line; std::getline(stream, line);) {
    if (const Words words = split(line); !words.empty()) sheet.read(words);
  }
  if (sheet.cases.empty() || sheet.rows.empty())
    throw std::runtime_error(file.string() + ": no case or no instruction");
  std::vector<TimelineCase> cases;
  for (std::size_t i = 0; i < sheet.cases.size(); ++i) cases.push_back(CaseBuilder(sheet, i).build());
  return cases;
}

}  // namespace shardlab::test
