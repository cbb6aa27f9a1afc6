// Some knobs of a question and the combinations of these alone; what settings are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/search/question/search_question.h"

namespace shardlab {

// Some of the knobs, and the combinations of these alone, numbered from 0.
class KnobSubset {
 public:
  KnobSubset() = default;
  KnobSubset(const std::vector<Knob>& knobs, std::vector<std::size_t> chosen);

  std::uint64_t size() const { return size_; }
  std::uint64_t number_of(const std::vector<std::size_t>& choices) const;
  // The choices of its knobs; the others keep what they have in `choices`.
  void set(std::uint64_t number, std::vector<std::size_t>& choices) const;

 private:
  std::vector<std::size_t> knobs_, counts_;
  std::uint64_t size_ = 1;
};

// The choice of each knob that leaves the scenario as it is; the first where there is none.
std::vector<std::size_t> standard_choices(const std::vector<Knob>& knobs);

// Whether one of the settings is of a key below a section, or of the section itself.
bool sets(const std::vector<std::string>& settings, std::string_view section);

}  // namespace shardlab
