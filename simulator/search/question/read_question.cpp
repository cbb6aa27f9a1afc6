#include "simulator/search/question/read_question.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/validate.h"
#include "simulator/search/question/default_knobs.h"
#include "simulator/search/question/limits_as_needs.h"
#include "simulator/search/question/question_reader.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_batch_key = "train.accumulation";

void add_all(const Error& error, Problems& problems) {
  if (error.parts.empty()) problems.add(error);
  for (const Error& part : error.parts) problems.add(part);
}

// Steps know nothing of limits: they become needs (limits_as_needs.h). All else must be one that can be
// predicted.
Result<Scenario> parse_base(const BaseScenario& base) {
  SHARDLAB_TRY(ReadScenario read, parse_scenario_with_source(base.text, base.file, base.overrides));
  Scenario without_limits = read.scenario;
  *without_limits.limits = LimitsSpec();
  SHARDLAB_CHECK_OK(check_supported(without_limits, read.source));
  return std::move(read.scenario);
}

// The scenario that the file names, complaints of it among the others.
bool read_base(const YamlNode& root, const fs::path& file, std::span<const std::string> overrides,
               BaseScenario& base, QuestionReader& reader) {
  const YamlNode* const named_in = root.find("scenario");
  if (named_in == nullptr || !named_in->is_scalar() || named_in->text.empty()) {
    reader.refuse(root.place, "scenario", "the path of a scenario is required", "scenario: my-training.yaml");
    return false;
  }
  const fs::path path = file.parent_path() / named_in->text;
  base.file = path.lexically_normal().string();
  base.overrides.assign(overrides.begin(), overrides.end());
  const auto text = read_input_file(base.file, k_scenario_file);
  if (!text) {
    reader.refuse(named_in->place, "scenario", base.file + ": " + text.error().what,
                  "the path is relative to this file");
    return false;
  }
  base.text = *text;
  auto scenario = parse_base(base);
  if (scenario)
    base.scenario = *std::move(scenario);
  else
    add_all(scenario.error(), reader.problems);
  return reader.problems.empty();
}

std::int64_t batch_of(const Scenario& scenario) {
  return saturated_product(scenario.train->micro_batch, scenario.train->accumulation, world_size(scenario));
}

// What is kept where the file does not say: the scenario's own, unless the steps' size is itself varied.
std::optional<std::int64_t> read_batch(const YamlNode& root, const Scenario& base, QuestionReader& reader) {
  const YamlNode* const keep = root.find("keep");
  const YamlNode* const vary = root.find("vary");
  const YamlNode* const accumulation = vary != nullptr ? vary->find(k_batch_key) : nullptr;
  const YamlNode* const batch = keep != nullptr ? keep->find("global_batch") : nullptr;
  if (keep != nullptr) reader.is_section(*keep, "keep", {"global_batch"});
  if (batch == nullptr) return accumulation != nullptr ? std::nullopt : std::optional(batch_of(base));
  if (accumulation != nullptr)
    reader.refuse(accumulation->place, "vary", "train.accumulation follows from keep.global_batch",
                  "remove one of the two");
  return reader.integer(*batch, "keep.global_batch", 1);
}

// All numbers of nodes that are offered, ascending.
std::vector<int> nodes_of(const std::vector<Offer>& offers) {
  std::vector<int> nodes;
  for (const Offer& offer : offers) nodes.insert(nodes.end(), offer.nodes.begin(), offer.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// A cluster that is described, or of processors, is replaced as a whole. One node has no network between
// nodes, and a scenario that gives its rate is refused.
Result<Knob> knob_of_offers(const std::vector<Offer>& offers, const BaseScenario& base) {
  Knob knob{"cluster", {}};
  SHARDLAB_TRY(const YamlNode tree, base_tree(base));
  const YamlNode* const own = tree.find("cluster");
  const bool has_node = own != nullptr && own->find("node") != nullptr;
  for (const Offer& offer : offers) {
    for (const int nodes : offer.nodes) {
      Choice choice{{}, fmt::format("{} x {}", nodes, offer_name(offer))};
      if (offer.described)
        choice.settings = {fmt::format(
            "cluster={{gpu: {}, gpus_per_node: {}, nodes: {}{}}}", offer.node, offer.gpus_per_node, nodes,
            offer.network && nodes > 1 ? fmt::format(", inter_node_gbps_per_gpu: {}", *offer.network) : "")};
      else if (!has_node)
        choice.settings = {fmt::format("cluster={{node: {}, nodes: {}}}", offer.node, nodes)};
      else
        choice.settings = {"cluster.node=" + offer.node, fmt::format("cluster.nodes={}", nodes)};
      knob.choices.push_back(std::move(choice));
    }
  }
  return knob;
}

void mark_standard(std::vector<Knob>& knobs, const BaseScenario& base) {
  for (Knob& knob : knobs) {
    for (Choice& choice : knob.choices) {
      std::vector<std::string> overrides = base.overrides;
      overrides.insert(overrides.end(), choice.settings.begin(), choice.settings.end());
      const auto read = parse_scenario(base.text, base.file, overrides);
      choice.standard = choice.standard || (read && *read == base.scenario);
    }
  }
}

// What can be seen to be impossible before anything is reckoned.
void check_needs(const YamlNode& root, const SearchQuestion& question, QuestionReader& reader) {
  const YamlNode* const need = root.find("need");
  const YamlNode* const objective = root.find("objective");
  const bool owned = question.offers.empty() && question.training.energy.price;
  const bool priced = owned || std::any_of(question.offers.begin(), question.offers.end(),
                                           [](const Offer& offer) { return offer.price.has_value(); });
  const auto without_price = [&](const Place& place, const std::string& name) {
    reader.refuse(place, name, "money without a price: no offer has one",
                  "offers: [{node: ..., price: dollars an hour, date: ..., source: ...}]");
  };
  if (need != nullptr && question.needs.dollars) {
    if (!priced) without_price(need->find("dollars")->place, "need.dollars");
    if (!question.training.tokens)
      reader.refuse(need->find("dollars")->place, "need.dollars", "dollars for what? No tokens are given",
                    "train: {tokens: 300G}");
  }
  const bool interrupted = std::any_of(question.offers.begin(), question.offers.end(),
                                       [](const Offer& offer) { return offer.interruptions.has_value(); });
  if (interrupted && !question.training.failures)
    reader.refuse(root.find("offers")->place, "offers.spot",
                  "what an interruption costs is not said: checkpoints, downtime, recovery",
                  "train: {failures: {count: 6.5, node_days: 1000, source: ..., checkpoint: 1min, downtime: "
                  "10min, recovery: 5min}}");
  if (need != nullptr && question.needs.hours && !question.training.tokens)
    reader.refuse(need->find("hours")->place, "need.hours", "hours for what? No tokens are given",
                  "train: {tokens: 300G}");
  if (objective != nullptr && question.objective == SearchObjective::money && !priced)
    without_price(objective->place, "objective");
}

// With all its parts read: what they say of each other.
void check_clusters(const YamlNode& root, const SearchQuestion& question, QuestionReader& reader) {
  if (question.offers.empty()) return;
  const YamlNode* const vary = root.find("vary");
  for (const YamlEntry& entry : vary != nullptr ? vary->entries : std::vector<YamlEntry>()) {
    if (entry.key == "cluster" || entry.key.starts_with("cluster.node") ||
        entry.key.starts_with("cluster.gpu"))
      reader.refuse(entry.place, "vary", entry.key + " follows from the offers", "remove it, or the offers");
  }
}

Result<SearchQuestion> read_tree(const YamlNode& root, const fs::path& file,
                                 std::span<const std::string> overrides) {
  Problems problems;
  QuestionReader reader{problems};
  SearchQuestion question;
  question.file = file.string();
  const std::vector<std::string> keys = {"scenario", "vary", "keep", "need", "offers", "train", "objective"};
  if (!reader.is_section(root, "a search", keys)) return fail(problems.status().error());
  const bool has_base = read_base(root, file, overrides, question.base, reader);
  if (has_base) question.global_batch = read_batch(root, question.base.scenario, reader);
  if (const YamlNode* const node = root.find("offers")) question.offers = read_offers(*node, reader);
  if (const YamlNode* const node = root.find("need")) question.needs = read_needs(*node, reader);
  if (const YamlNode* const node = root.find("train")) question.training = read_training(*node, reader);
  if (const YamlNode* const node = root.find("objective")) {
    if (const auto objective = parse_word<SearchObjective>(node->text))
      question.objective = *objective;
    else
      reader.refuse(node->place, "objective", "unknown objective '" + node->text + "'",
                    fmt::format("known: {}", fmt::join(all_words<SearchObjective>(), ", ")));
  }
  if (has_base) take_limits(question, root.find("objective") != nullptr, reader);
  const YamlNode* const vary = root.find("vary");
  if (vary != nullptr) question.knobs = read_knobs(*vary, question.global_batch, reader);
  check_needs(root, question, reader);
  check_clusters(root, question, reader);
  SHARDLAB_CHECK_OK(problems.status());
  question.knobs_chosen = vary == nullptr;
  if (question.knobs_chosen) {
    SHARDLAB_TRY(question.knobs,
                 default_knobs(question.base, question.global_batch, nodes_of(question.offers)));
  }
  if (!question.offers.empty()) {
    SHARDLAB_TRY(Knob rented, knob_of_offers(question.offers, question.base));
    question.knobs.insert(question.knobs.begin(), std::move(rented));
  }
  mark_standard(question.knobs, question.base);
  return question;
}

}  // namespace

Result<SearchQuestion> read_question(const fs::path& file, std::span<const std::string> overrides) {
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_search_file));
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, file.string()));
  if (root.is_null()) root.place = in_file(file.string());
  return read_tree(root, file, overrides);
}

}  // namespace shardlab
