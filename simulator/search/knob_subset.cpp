#include "simulator/search/knob_subset.h"

#include <algorithm>

namespace shardlab {
namespace {

bool is_of(std::string_view setting, std::string_view section) {
  const std::string_view key = setting.substr(0, setting.find('='));
  return key == section || (key.starts_with(section) && key.substr(section.size()).starts_with('.'));
}

}  // namespace

bool sets(const std::vector<std::string>& settings, std::string_view section) {
  return std::any_of(settings.begin(), settings.end(),
                     [&](const std::string& each) { return is_of(each, section); });
}

std::vector<std::size_t> standard_choices(const std::vector<Knob>& knobs) {
  std::vector<std::size_t> standard;
  for (const Knob& knob : knobs) {
    const auto found = std::find_if(knob.choices.begin(), knob.choices.end(),
                                    [](const Choice& each) { return each.standard; });
    standard.push_back(found == knob.choices.end() ? 0
                                                   : static_cast<std::size_t>(found - knob.choices.begin()));
  }
  return standard;
}

KnobSubset::KnobSubset(const std::vector<Knob>& knobs, std::vector<std::size_t> chosen)
    : knobs_(std::move(chosen)) {
  for (const std::size_t knob : knobs_) {
    counts_.push_back(knobs[knob].choices.size());
    // Beyond any limit it stays there instead of wrapping round.
    const auto count = static_cast<std::uint64_t>(counts_.back());
    size_ = count != 0 && size_ > (std::uint64_t{1} << 62) / count ? std::uint64_t{1} << 62 : size_ * count;
  }
}

std::uint64_t KnobSubset::number_of(const std::vector<std::size_t>& choices) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < knobs_.size(); ++i) number = number * counts_[i] + choices[knobs_[i]];
  return number;
}

void KnobSubset::set(std::uint64_t number, std::vector<std::size_t>& choices) const {
  for (std::size_t i = knobs_.size(); i-- > 0; number /= counts_[i]) choices[knobs_[i]] = number % counts_[i];
}

}  // namespace shardlab
