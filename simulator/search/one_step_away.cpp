#include "simulator/search/one_step_away.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/in_parallel.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

// Places of all knobs with one of them moved.
std::uint64_t moved(const SearchSpace& space, std::vector<std::size_t> choices, std::size_t knob,
                    std::size_t to) {
  std::vector<std::size_t> every(choices.size());
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
  choices[knob] = to;
  return KnobSubset(space.question().knobs, every).number_of(choices);
}

// What is trained is the question's to say; of a smaller micro-batch accumulation makes the same batch.
bool keeps_training(const SettingToTry& each) {
  return each.touches == Touches::nothing || each.touches == Touches::batch;
}

// More nodes alone, and with smaller micro-batches, so that they still divide the batch.
void add_nodes(const Configuration& configuration, std::vector<std::vector<std::string>>& tried) {
  if (configuration.node.empty() && configuration.offer == nullptr) return;
  const std::string network =
      configuration.offer != nullptr ? network_setting(*configuration.offer) : std::string();
  for (const int times : {2, 4}) {
    std::vector<std::string> nodes = {fmt::format("cluster.nodes={}", times * configuration.nodes)};
    if (configuration.nodes == 1 && !network.empty()) nodes.push_back(network);
    tried.push_back(nodes);
    if (configuration.micro_batch % times != 0) continue;
    nodes.push_back(fmt::format("train.micro_batch={}", configuration.micro_batch / times));
    tried.push_back(std::move(nodes));
  }
}

std::vector<std::vector<std::string>> settings_to_mend(const FullPrediction& prediction,
                                                       const Candidate& miss) {
  std::vector<std::vector<std::string>> tried;
  if (std::any_of(miss.misses.begin(), miss.misses.end(), [](const Miss& each) { return each.of_memory; })) {
    for (const SettingToTry& each : settings_that_could_save(prediction.planned, prediction.run))
      if (keeps_training(each)) tried.push_back({each.setting});
  }
  add_nodes(miss.configuration, tried);
  return tried;
}

bool is_beyond_offer(const Configuration& configuration) {
  if (configuration.offer == nullptr) return false;
  const std::vector<int>& offered = configuration.offer->nodes;
  return std::find(offered.begin(), offered.end(), configuration.nodes) == offered.end();
}

bool cheaper(const Candidate& a, const Candidate& b) {
  if (a.costs.money && b.costs.money && *a.costs.money != *b.costs.money)
    return *a.costs.money < *b.costs.money;
  return a.configuration.gpus != b.configuration.gpus ? a.configuration.gpus < b.configuration.gpus
                                                      : a.costs.time < b.costs.time;
}

}  // namespace

Result<std::vector<Neighbour>> one_step_away(const SearchSpace& space, Evaluator& evaluator,
                                             const Candidate& from, int threads) {
  const SearchQuestion& question = space.question();
  std::vector<Neighbour> neighbours;
  std::vector<Configuration> configurations;
  for (std::size_t knob = 0; knob < question.knobs.size(); ++knob) {
    const std::vector<Choice>& choices = question.knobs[knob].choices;
    const std::size_t own = from.configuration.choices[knob];
    for (const std::size_t step :
         {std::size_t{0} - 1, std::size_t{1}}) {  // below the first there is a very large one
      // To the next that divides the batch; where none does, the very next stands for them.
      std::optional<Configuration> found;
      std::size_t at = own;
      for (std::size_t to = own + step; to < choices.size() && !(found && found->divides); to += step) {
        Configuration next = space.at(moved(space, from.configuration.choices, knob, to));
        if (found && !next.divides) continue;
        found = std::move(next);
        at = to;
      }
      if (!found) continue;
      neighbours.push_back({question.knobs[knob].key, choices[own].shown, choices[at].shown, {}, {}});
      configurations.push_back(*std::move(found));
    }
  }
  std::vector<Result<Outcome>> outcomes(configurations.size(),
                                        Outcome{"does not divide the global batch", {}});
  in_parallel(configurations.size(), threads, [&](std::size_t i) {
    if (configurations[i].divides) outcomes[i] = evaluator.evaluate(configurations[i].settings);
  });
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    SHARDLAB_TRY(const Outcome outcome, std::move(outcomes[i]));
    neighbours[i].refused = outcome.refused;
    if (outcome.refused.empty())
      neighbours[i].candidate = candidate_of(question, configurations[i], outcome.figures);
  }
  return neighbours;
}

Result<std::optional<Mend>> cheapest_mend(const SearchSpace& space, Evaluator& evaluator,
                                          const Candidate& miss) {
  std::optional<Mend> best;
  const Result<FullPrediction> prediction = evaluator.predict(miss.configuration.settings);
  if (!prediction) return best;
  for (const std::vector<std::string>& settings : settings_to_mend(*prediction, miss)) {
    const Configuration configuration = space.with(miss.configuration.index, settings);
    if (!configuration.divides) continue;
    SHARDLAB_TRY(const Outcome outcome, evaluator.evaluate(configuration.settings));
    if (!outcome.refused.empty()) continue;
    Candidate candidate = candidate_of(space.question(), configuration, outcome.figures);
    if (candidate.satisfies() && (!best || cheaper(candidate, best->candidate)))
      best = Mend{fmt::format("{}", fmt::join(settings, ", ")), std::move(candidate),
                  is_beyond_offer(configuration)};
  }
  return best;
}

}  // namespace shardlab
