#include "simulator/search/bounded_space.h"

#include <algorithm>
#include <map>

#include "engine/base/in_parallel.h"
#include "simulator/search/estimate_parts.h"

namespace shardlab {
namespace {

// Settings that no bound looks at: what is prefetched or kept longer only adds.
constexpr std::string_view k_without_effect[] = {"parallel.reshard_after_forward",
                                                 "parallel.reshard_after_backward",
                                                 "parallel.prefetch",
                                                 "parallel.ddp",
                                                 "distillation.teacher.parallel",
                                                 "parallel.requires_all_reduce",
                                                 "measure",
                                                 "train.optimizer_implementation",
                                                 "train.clip_norm"};

bool has_effect(const Knob& knob, const std::string& also) {
  if (knob.key == also) return true;
  return std::any_of(knob.choices.begin(), knob.choices.end(), [](const Choice& choice) {
    return std::any_of(choice.settings.begin(), choice.settings.end(), [](const std::string& setting) {
      return std::none_of(std::begin(k_without_effect), std::end(k_without_effect),
                          [&](std::string_view section) { return sets({setting}, section); });
    });
  });
}

KnobSubset with_effect(const std::vector<Knob>& knobs, const std::string& also) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (has_effect(knobs[i], also)) chosen.push_back(i);
  return {knobs, std::move(chosen)};
}

}  // namespace

BoundedSpace::BoundedSpace(const SearchSpace& space, Evaluator& evaluator, const std::string& also,
                           int threads)
    : space_(space) {
  const std::vector<Knob>& knobs = space.question().knobs;
  const KnobSubset effective = with_effect(knobs, also);
  const EstimateParts parts(space, evaluator, threads);
  bounds_.resize(effective.size());
  const std::vector<std::size_t> standard = standard_choices(knobs);
  std::vector<std::size_t> every(knobs.size());
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
  const KnobSubset all(knobs, every);
  in_parallel(bounds_.size(), threads, [&](std::size_t group) {
    std::vector<std::size_t> choices = standard;
    effective.set(group, choices);
    bounds_[group] = parts.bounds_of(space_.at(all.number_of(choices)));
  });
  group_of_.resize(space.size());
  order_.resize(space.size());
  std::vector<std::size_t> choices = standard;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    all.set(index, choices);
    group_of_[index] = static_cast<std::uint32_t>(effective.number_of(choices));
    order_[index] = index;
  }
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
    return bounds_of(a).costs.time < bounds_of(b).costs.time;
  });
}

}  // namespace shardlab
