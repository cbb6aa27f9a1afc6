#include <algorithm>

#include <fmt/format.h>

#include "engine/hardware/node.h"
#include "simulator/search/question_reader.h"

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

Offer read_offer(const YamlNode& node, QuestionReader& reader) {
  Offer offer;
  if (!reader.is_section(node, "offers", {"node", "nodes", "price", "date", "source"})) return offer;
  offer.node = reader.text(node, "node", "offers.node");
  const YamlNode* const name = node.find("node");
  if (name == nullptr) {
    reader.refuse(node.place, "offers", "an offer names its node", "`shardlab hardware` lists nodes");
  } else if (const auto known = find_node(offer.node); known) {
    offer.node = known->name;
  } else if (!offer.node.empty()) {
    reader.refuse(name->place, "offers.node", known.error().what, known.error().hint);
  }
  offer.nodes = {1};
  if (const YamlNode* const nodes = node.find("nodes")) offer.nodes = read_counts(*nodes, reader);
  if (const YamlNode* const price = node.find("price"))
    offer.price = reader.number(*price, "offers.price", 0);
  offer.date = reader.text(node, "date", "offers.date");
  offer.source = reader.text(node, "source", "offers.source");
  if (offer.price && (offer.date.empty() || offer.source.empty()))
    reader.refuse(node.find("price")->place, "offers.price", "a price needs its date and its source",
                  "date: 2026-11-01, source: where it was read");
  return offer;
}

}  // namespace

std::vector<Offer> read_offers(const YamlNode& offers, QuestionReader& reader) {
  std::vector<Offer> read;
  if (!offers.is_sequence() || offers.items.empty()) {
    reader.refuse(offers.place, "offers", "expected a list of what can be rented",
                  "- {node: hgx-h100, nodes: {most: 8}, price: 98.32, date: ..., source: ...}");
    return read;
  }
  for (const YamlNode& item : offers.items) read.push_back(read_offer(item, reader));
  return read;
}

}  // namespace shardlab
