#include "engine/report/words/plan_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace shardlab {

std::string to_words(const BufferPhrase& phrase) {
  std::string text = phrase.what;
  if (phrase.place) text += " of " + to_words(*phrase.place);
  return phrase.batch.empty() ? text : fmt::format("{} ({})", text, phrase.batch);
}

namespace {

bool is_root(const ModelPlace& place) {
  return !place.layer && place.rest.empty();
}

// The parameters of a root are those of no unit inside it.
std::vector<ModelPlace> places_of_units(const StepPlan& plan) {
  std::vector<ModelPlace> places;
  for (const PlanUnit& unit : plan.units) places.push_back(place_of(unit.module_path));
  std::array<int, 2> in_tower{};  // the student's, the teacher's
  for (const ModelPlace& place : places) ++in_tower[place.teachers ? 1 : 0];
  for (ModelPlace& place : places) {
    if (!is_root(place) || in_tower[place.teachers ? 1 : 0] < 2) continue;
    place.rest = "root unit";
    place.article = true;
  }
  return places;
}

// A root's segments are what lies around the units inside it: in every family the first of a tower holds the
// embedding, the last the head.
std::vector<ModelPlace> places_of_segments(const StepPlan& plan) {
  std::vector<ModelPlace> places;
  std::array<std::vector<std::size_t>, 2> towers;
  std::map<UnitId, std::vector<std::size_t>> of_unit;
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    const UnitId unit = plan.segments[i].unit;
    places.push_back(place_of(plan.units[unit.index()].module_path));
    towers[places.back().teachers ? 1 : 0].push_back(i);
    of_unit[unit].push_back(i);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    ModelPlace& place = places[i];
    const std::vector<std::size_t>&tower = towers[place.teachers ? 1 : 0],
          &same = of_unit[plan.segments[i].unit];
    if (same.size() == 1 && (!is_root(place) || tower.size() == 1)) continue;
    const bool first = tower.front() == i, last = tower.back() == i;
    if (is_root(place) && (first || last)) {
      place.rest = first ? "embedding" : "head";
      place.article = true;
    } else {
      const auto at = std::find(same.begin(), same.end(), i) - same.begin();
      place.part = fmt::format("part {} of {}", at + 1, same.size());
    }
  }
  return places;
}

}  // namespace

PlanWords::PlanWords(const StepPlan& plan)
    : plan_(plan), units_(places_of_units(plan)), segments_(places_of_segments(plan)) {
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind != InstructionKind::Forward || !instruction.segment) continue;
    if (instruction.segment->index() >= segments_.size()) continue;
    if (segment(*instruction.segment).teachers) teachers_last_ = instruction.segment;
    for (const BufferId id : instruction.writes) {
      const std::optional<TensorId> tensor = plan.buffer(id).tensor;
      if (!tensor) continue;
      if (maker_.size() <= tensor->index()) maker_.resize(tensor->index() + 1);
      maker_[tensor->index()] = instruction.segment;
    }
  }
}

std::string PlanWords::batch(std::optional<int> micro_batch) const {
  if (!micro_batch || plan_.micro_batches < 2) return {};
  return fmt::format("micro-batch {} of {}", *micro_batch + 1, plan_.micro_batches);
}

}  // namespace shardlab
