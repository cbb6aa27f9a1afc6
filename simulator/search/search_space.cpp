#include "simulator/search/search_space.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/hardware/device_kind.h"
#include "engine/hardware/gpu.h"
#include "engine/hardware/node.h"
#include "engine/report/figures.h"
#include "engine/scenario/source.h"
#include "engine/scenario/train_spec.h"
#include "simulator/search/question/default_knobs.h"

namespace shardlab {
namespace {

constexpr std::uint64_t k_most_combinations = 5'000'000;

std::optional<std::int64_t> integer_of(const YamlNode* section, std::string_view key) {
  const YamlNode* const node = section != nullptr ? section->find(key) : nullptr;
  const auto value = node != nullptr && node->is_scalar() ? parse_integer(node->text)
                                                          : Result<std::int64_t>(bad_input({}, ""));
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<std::size_t> knobs_that_set(const std::vector<Knob>& knobs, std::string_view section) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const auto& choices = knobs[i].choices;
    if (std::any_of(choices.begin(), choices.end(),
                    [&](const Choice& choice) { return sets(choice.settings, section); }))
      found.push_back(i);
  }
  return found;
}

std::vector<std::string> settings_of(const std::vector<Knob>& knobs,
                                     const std::vector<std::size_t>& choices) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const auto& each = knobs[i].choices[choices[i]].settings;
    settings.insert(settings.end(), each.begin(), each.end());
  }
  return settings;
}

// Whether settings leave what is rented the same machine: they may ask for more nodes of it, joined by its
// own network, limit its memory, or suppose that it were faster, at the price that it has.
bool keeps_machine(const std::vector<std::string>& settings, const Offer* offer, const std::string& node) {
  if (offer == nullptr) return false;
  if (!offer->described && offer->node == node) return true;
  return std::all_of(settings.begin(), settings.end(), [&](const std::string& each) {
    return !sets({each}, "cluster") || sets({each}, "cluster.nodes") || sets({each}, "cluster.suppose") ||
           sets({each}, "cluster.memory_limit") || each == network_setting(*offer);
  });
}

}  // namespace

Result<SearchSpace> SearchSpace::of(const SearchQuestion& question) {
  SearchSpace space;
  space.question_ = &question;
  const std::vector<Knob>& knobs = question.knobs;
  std::vector<std::size_t> every(knobs.size());
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = i;
  space.all_ = KnobSubset(knobs, every);
  if (space.all_.size() > k_most_combinations) {
    double count = 1;
    for (const Knob& knob : knobs) count *= static_cast<double>(knob.choices.size());
    return bad_input(named(in_file(question.file), "vary"),
                     fmt::format("{:.3g} combinations, more than {}", count, grouped(k_most_combinations)),
                     "shorten the lists; what is left out keeps the scenario's value");
  }
  SHARDLAB_TRY(space.tree_, base_tree(question.base));
  space.clusters_ = KnobSubset(knobs, knobs_that_set(knobs, "cluster"));
  space.trainings_ = KnobSubset(knobs, knobs_that_set(knobs, "train"));
  std::vector<std::size_t> choices(knobs.size(), 0);
  for (std::uint64_t i = 0; i < space.clusters_.size(); ++i) {
    space.clusters_.set(i, choices);
    SHARDLAB_TRY(space.cluster_of_.emplace_back(), space.cluster_with(space.settings_of(choices)));
  }
  for (std::uint64_t i = 0; i < space.trainings_.size(); ++i) {
    space.trainings_.set(i, choices);
    const auto settings = space.settings_of(choices);
    space.steps_of_.push_back(
        {space.number_with(settings, "micro_batch"), space.number_with(settings, "accumulation")});
  }
  return space;
}

Result<SearchSpace::Cluster> SearchSpace::cluster_with(const std::vector<std::string>& settings) const {
  YamlNode tree = tree_;
  for (const std::string& each : settings) {
    if (sets({each}, "cluster") && !apply_override(tree, each)) return Cluster();
  }
  const YamlNode* const section = tree.find("cluster");
  const YamlNode* const device = section != nullptr ? section->find("device") : nullptr;
  if (device != nullptr && parse_word<DeviceKind>(device->text) == DeviceKind::cpu)
    return Cluster{static_cast<int>(integer_of(section, "ranks").value_or(0)), 1, {}, 0};
  const YamlNode* const node = section != nullptr ? section->find("node") : nullptr;
  Cluster cluster{0, static_cast<int>(integer_of(section, "nodes").value_or(1)), {}, 0};
  std::int64_t gpus = integer_of(section, "gpus_per_node").value_or(0);
  const YamlNode* const described = section != nullptr ? section->find("gpu") : nullptr;
  std::string gpu = described != nullptr ? described->text : std::string();
  const auto known = node != nullptr ? find_node(node->text) : Result<Node>(bad_input({}, ""));
  if (!known && is_of_the_machine(known.error())) return fail(known.error());
  if (known) {
    if (gpus == 0) gpus = known->gpus;
    gpu = known->gpu;
  }
  if (node != nullptr) cluster.node = node->text;
  const auto accelerator = find_gpu(gpu);
  if (!accelerator && is_of_the_machine(accelerator.error())) return fail(accelerator.error());
  if (accelerator) cluster.watts = accelerator->watts;
  cluster.gpus = static_cast<int>(gpus) * cluster.nodes;
  return cluster;
}

const Offer* SearchSpace::offer_of(const std::string& node) const {
  const auto known = find_node(node);
  for (const Offer& offer : question_->offers)
    if (known && offer.node == known->name) return &offer;
  return nullptr;
}

std::int64_t SearchSpace::number_with(const std::vector<std::string>& settings, std::string_view key) const {
  YamlNode tree = tree_;
  for (const std::string& each : settings) {
    if (sets({each}, "train") && !apply_override(tree, each)) return 1;
  }
  return std::max<std::int64_t>(1, integer_of(tree.find("train"), key).value_or(1));
}

std::vector<std::string> SearchSpace::settings_of(const std::vector<std::size_t>& choices) const {
  return shardlab::settings_of(question_->knobs, choices);
}

Configuration SearchSpace::chosen(std::vector<std::size_t> choices) const {
  const std::vector<Knob>& knobs = question_->knobs;
  Configuration configuration;
  configuration.index = all_.number_of(choices);
  configuration.settings = settings_of(choices);
  for (std::size_t i = 0; i < knobs.size(); ++i)
    configuration.changes += !knobs[i].choices[choices[i]].standard;
  if (!question_->offers.empty()) {
    std::size_t left = choices.front();
    for (const Offer& offer : question_->offers) {
      if (left < offer.nodes.size()) {
        configuration.offer = &offer;
        break;
      }
      left -= offer.nodes.size();
    }
  }
  configuration.choices = std::move(choices);
  return configuration;
}

void SearchSpace::finish(Configuration& configuration) const {
  const std::optional<std::int64_t>& batch = question_->global_batch;
  if (!batch) return;
  if (configuration.gpus <= 0) return;
  const std::int64_t of_one = saturated_product(configuration.micro_batch, configuration.gpus);
  configuration.divides = *batch % of_one == 0;
  if (!configuration.divides) return;
  configuration.accumulation = *batch / of_one;
  configuration.settings.push_back(fmt::format("train.accumulation={}", configuration.accumulation));
  // One micro-batch reduces its gradients anyway: the scenario's `every` would be a setting without effect.
  if (configuration.accumulation == 1 && question_->base.scenario.train->sync == GradientSync::every &&
      !sets(configuration.settings, "train.sync"))
    configuration.settings.emplace_back("train.sync=last");
}

void SearchSpace::set_cluster(Configuration& configuration, const Cluster& cluster) {
  configuration.gpus = cluster.gpus;
  configuration.nodes = cluster.nodes;
  configuration.node = cluster.node;
  configuration.watts = cluster.watts;
}

Configuration SearchSpace::at(std::uint64_t index) const {
  std::vector<std::size_t> choices(question_->knobs.size(), 0);
  all_.set(index, choices);
  Configuration configuration = chosen(std::move(choices));
  set_cluster(configuration, cluster_of_[clusters_.number_of(configuration.choices)]);
  const Steps& steps = steps_of_[trainings_.number_of(configuration.choices)];
  configuration.micro_batch = steps.micro_batch;
  configuration.accumulation = steps.accumulation;
  finish(configuration);
  return configuration;
}

std::vector<std::string> SearchSpace::offers_beyond_batch() const {
  std::vector<std::string> beyond;
  if (question_->offers.empty() || !question_->global_batch) return beyond;
  const std::vector<Choice>& offers = question_->knobs.front().choices;
  for (std::size_t offer = 0; offer < offers.size(); ++offer) {
    bool divides = false;
    for (std::uint64_t i = 0; i < trainings_.size() && !divides; ++i) {
      std::vector<std::size_t> choices(question_->knobs.size(), 0);
      trainings_.set(i, choices);
      choices.front() = offer;
      divides = at(all_.number_of(choices)).divides;
    }
    if (!divides) beyond.push_back(offers[offer].shown);
  }
  return beyond;
}

Configuration SearchSpace::with(std::uint64_t index, const std::vector<std::string>& settings) const {
  std::vector<std::size_t> choices(question_->knobs.size(), 0);
  all_.set(index, choices);
  Configuration configuration = chosen(std::move(choices));
  configuration.settings.insert(configuration.settings.end(), settings.begin(), settings.end());
  const Cluster cluster = cluster_with(configuration.settings).value_or(Cluster());
  if (sets(settings, "cluster") && !keeps_machine(settings, configuration.offer, cluster.node))
    configuration.offer = offer_of(cluster.node);
  set_cluster(configuration, cluster);
  configuration.micro_batch = number_with(configuration.settings, "micro_batch");
  configuration.accumulation = number_with(configuration.settings, "accumulation");
  if (!sets(settings, "train.accumulation")) finish(configuration);
  return configuration;
}

}  // namespace shardlab
