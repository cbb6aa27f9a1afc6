#include <algorithm>

#include <fmt/format.h>

#include "engine/hardware/gpu.h"
#include "engine/hardware/node.h"
#include "simulator/search/question/question_reader.h"

namespace shardlab {
namespace {

constexpr int k_most_nodes = 100'000;

// One count, a list, or all from the least to the most.
std::vector<int> read_counts(const YamlNode& node, QuestionReader& reader) {
  const std::string name = "offers.nodes";
  std::vector<int> counts;
  const auto add = [&](const YamlNode& item) {
    const auto count = reader.integer(item, name, 1);
    if (count && *count > k_most_nodes) reader.refuse(item.place, name, "more than 100000 nodes");
    if (count && *count <= k_most_nodes) counts.push_back(static_cast<int>(*count));
  };
  if (node.is_map()) {
    const YamlNode* const least = node.find("least");
    const YamlNode* const most = node.find("most");
    if (!reader.is_section(node, name, {"least", "most"})) return {};
    if (most == nullptr) {
      reader.refuse(node.place, name, "needs the most nodes that can be had",
                    "for example {least: 1, most: 8}");
      return {};
    }
    if (least != nullptr)
      add(*least);
    else
      counts.push_back(1);
    add(*most);
    if (counts.size() < 2) return {};
    const int first = counts[0], last = counts[1];
    if (last < first)
      reader.refuse(node.place, name,
                    fmt::format("at least {} and at most {} contradict each other", first, last));
    counts.clear();
    for (int i = first; i <= last; ++i) counts.push_back(i);
    return counts;
  }
  if (node.is_sequence()) {
    if (node.items.empty()) reader.refuse(node.place, name, "an empty list: nothing can be rented");
    for (const YamlNode& item : node.items) add(item);
  } else {
    add(node);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// What is offered: a node of a name, or so many GPUs of a name in a box.
void read_machine(const YamlNode& node, Offer& offer, QuestionReader& reader) {
  const YamlNode* const name = node.find("node");
  const YamlNode* const gpu = node.find("gpu");
  if ((name == nullptr) == (gpu == nullptr)) {
    reader.refuse(node.place, "offers", "an offer names its node, or its GPU",
                  "`shardlab hardware` lists both");
    return;
  }
  if (name != nullptr) {
    offer.node = reader.text(node, "node", "offers.node");
    for (const char* key : {"gpus_per_node", "inter_node_gbps_per_gpu"})
      if (const YamlNode* const given = node.find(key))
        reader.refuse(given->place, fmt::format("offers.{}", key), "follows from the node", "remove it");
    const auto known = find_node(offer.node);
    if (known)
      offer.node = known->name;
    else if (!offer.node.empty())
      reader.refuse(name->place, "offers.node", known.error().what, known.error().hint);
    return;
  }
  offer.described = true;
  offer.node = reader.text(node, "gpu", "offers.gpu");
  const auto known = find_gpu(offer.node);
  if (known)
    offer.node = known->name;
  else if (!offer.node.empty())
    reader.refuse(gpu->place, "offers.gpu", known.error().what, known.error().hint);
  const YamlNode* const count = node.find("gpus_per_node");
  const YamlNode* const network = node.find("inter_node_gbps_per_gpu");
  if (count == nullptr)
    reader.refuse(node.place, "offers.gpus_per_node", "is required beside a GPU", "gpus_per_node: 8");
  else
    offer.gpus_per_node = static_cast<int>(
        std::min<std::int64_t>(k_most_nodes, reader.integer(*count, "offers.gpus_per_node", 1).value_or(1)));
  if (network != nullptr) offer.network = reader.number(*network, "offers.inter_node_gbps_per_gpu", 1e-3);
}

void check_price(const YamlNode& node, const Offer& offer, const std::string& name, QuestionReader& reader) {
  if (offer.price && (offer.date.empty() || offer.source.empty()))
    reader.refuse(node.find("price")->place, name, "a price needs its date and its source",
                  "date: 2026-11-01, source: where it was read");
}

// The price of an offer by GPU is that of one GPU.
void read_price(const YamlNode& node, Offer& offer, const std::string& name, QuestionReader& reader) {
  offer.price.reset();
  if (const YamlNode* const price = node.find("price")) {
    offer.price = reader.number(*price, name, 0);
    if (offer.price && offer.described) *offer.price *= offer.gpus_per_node;
  }
}

// The same for less, and taken back at times.
Offer read_spot(const YamlNode& node, Offer offer, QuestionReader& reader) {
  if (!reader.is_section(node, "offers.spot", {"price", "interruptions", "date", "source"})) return offer;
  read_price(node, offer, "offers.spot.price", reader);
  if (const std::string date = reader.text(node, "date", "offers.spot.date"); !date.empty())
    offer.date = date;
  if (const std::string source = reader.text(node, "source", "offers.spot.source"); !source.empty())
    offer.source = source;
  check_price(node, offer, "offers.spot.price", reader);
  if (const YamlNode* const rate = node.find("interruptions"))
    offer.interruptions = read_rate(*rate, "offers.spot.interruptions", {}, reader);
  else
    reader.refuse(node.place, "offers.spot.interruptions", "how often is it taken back?",
                  "{count: 5, node_days: 100, source: where it was read}");
  return offer;
}

void read_offer(const YamlNode& node, std::vector<Offer>& offers, QuestionReader& reader) {
  Offer offer;
  if (!reader.is_section(node, "offers",
                         {"node", "gpu", "gpus_per_node", "inter_node_gbps_per_gpu", "nodes", "price", "date",
                          "source", "spot"}))
    return;
  read_machine(node, offer, reader);
  offer.nodes = {1};
  if (const YamlNode* const nodes = node.find("nodes")) offer.nodes = read_counts(*nodes, reader);
  if (offer.described && !offer.network && !offer.nodes.empty() && offer.nodes.back() > 1)
    reader.refuse(node.place, "offers.inter_node_gbps_per_gpu", "is required for more than one node",
                  "inter_node_gbps_per_gpu: 400");
  read_price(node, offer, "offers.price", reader);
  offer.date = reader.text(node, "date", "offers.date");
  offer.source = reader.text(node, "source", "offers.source");
  check_price(node, offer, "offers.price", reader);
  offers.push_back(offer);
  if (const YamlNode* const spot = node.find("spot")) offers.push_back(read_spot(*spot, offer, reader));
}

}  // namespace

std::vector<Offer> read_offers(const YamlNode& offers, QuestionReader& reader) {
  std::vector<Offer> read;
  if (!offers.is_sequence() || offers.items.empty()) {
    reader.refuse(offers.place, "offers", "expected a list of what can be rented",
                  "- {node: hgx-h100, nodes: {most: 8}, price: 98.32, date: ..., source: ...}");
    return read;
  }
  for (const YamlNode& item : offers.items) read_offer(item, read, reader);
  return read;
}

}  // namespace shardlab
