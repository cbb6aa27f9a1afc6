#include "engine/hardware/nccl_tuning.h"

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

// Getters return zeros after a mistake; status() then says the first one, so that reading is a plain list.
class Tables {
 public:
  explicit Tables(const YamlNode& root) : root_(root) {}

  template <std::size_t N>
  std::array<double, N> row(const YamlNode* list, std::string_view what) {
    std::array<double, N> row{};
    if (list == nullptr || list->items.size() != N) {
      mistake(list, fmt::format("{}: expected a list of {} numbers", what, N));
      return row;
    }
    for (std::size_t i = 0; i < N; ++i) row[i] = number(&list->items[i], what);
    return row;
  }
  template <std::size_t N>
  std::array<double, N> row(std::string_view key) {
    return row<N>(root_.find(key), key);
  }

  // Rows by the words of an enumeration.
  template <typename Word, std::size_t N>
  auto rows(std::string_view key) {
    std::array<std::array<double, N>, k_words<Word>.size()> rows{};
    const YamlNode* const table = root_.find(key);
    for (const auto& word : k_words<Word>) {
      const YamlNode* const list = table != nullptr ? table->find(word.text) : nullptr;
      rows[static_cast<std::size_t>(word.value)] = row<N>(list, fmt::format("{}.{}", key, word.text));
    }
    return rows;
  }

  double number(std::string_view section, std::string_view key) {
    const YamlNode* const map = root_.find(section);
    return number(map != nullptr ? map->find(key) : nullptr, key);
  }

  NcclSearchedGraph graph(NcclGeneration generation) {
    const YamlNode* const all = root_.find("graphs");
    const YamlNode* const its = all != nullptr ? all->find(to_string(generation)) : nullptr;
    if (its == nullptr) return {};
    return {static_cast<int>(number(its->find("channels"), "channels")),
            number(its->find("bandwidth"), "bandwidth"),
            static_cast<int>(number(its->find("nvls_channels"), "nvls_channels")),
            number(its->find("nvls_bandwidth"), "nvls_bandwidth")};
  }

  Status status() const { return mistake_ ? Status(fail(*mistake_)) : Status{}; }

 private:
  double number(const YamlNode* node, std::string_view what) {
    const auto value = node != nullptr ? parse_number(node->text) : Result<double>(bad_input({}, "missing"));
    if (!value || *value < 0) mistake(node, fmt::format("{}: expected a number, at least 0", what));
    return value.value_or(0);
  }
  void mistake(const YamlNode* at, std::string what) {
    if (!mistake_)
      mistake_ = Error{ErrorKind::bad_input, at != nullptr ? at->place : root_.place, std::move(what), {}};
  }

  const YamlNode& root_;
  std::optional<Error> mistake_;
};

void read_factors(Tables& tables, NcclTuning& tuning) {
  const auto factor = [&](std::string_view key) { return tables.number("factors", key); };
  tuning.ring_ll_factor = factor("ring_ll");
  tuning.ll128_factor = factor("ll128");
  tuning.tree_factor = factor("tree");
  tuning.tree_ll_divisor = factor("tree_ll_divisor");
  tuning.tree_ll128_one_node = factor("tree_ll128_one_node");
  tuning.tree_ll128_several_nodes = factor("tree_ll128_several_nodes");
  tuning.pat_factor = factor("pat");
  tuning.pat_latency_divisor = factor("pat_latency_divisor");
  tuning.pat_latency_of_a_rank = factor("pat_latency_of_a_rank");
  tuning.network_overhead = factor("network_overhead");
  tuning.network_overhead_of_simple = factor("network_overhead_of_simple");
  tuning.plateau_latency = factor("plateau_latency");
  tuning.plateau_bytes = factor("plateau_bytes");
  tuning.adapter_share = factor("adapter_share");
}

Result<NcclTuning> read_tables(const YamlNode& root) {
  Tables tables(root);
  NcclTuning tuning;
  constexpr std::size_t protocols = k_nccl_protocols;
  tuning.base = tables.rows<NcclAlgorithm, protocols>("base_latency");
  tuning.nvlink = tables.rows<NcclAlgorithm, protocols>("nvlink_latency");
  tuning.pcie = tables.rows<NcclAlgorithm, protocols>("pcie_latency");
  tuning.network = tables.rows<NcclAlgorithm, protocols>("network_latency");
  tuning.ll = tables.rows<NcclGeneration, 3>("ll_ceiling");
  tuning.ring_ll128 = tables.rows<NcclGeneration, 3>("ring_ll128_ceiling");
  tuning.tree_ll128 = tables.rows<NcclGeneration, 3>("tree_ll128_ceiling");
  tuning.tree = tables.rows<NcclGeneration, 3>("tree_ceiling");
  tuning.nvls_tree = tables.rows<NcclGeneration, 3>("nvls_tree_ceiling");
  for (const auto& word : k_words<NcclGeneration>) {
    const auto generation = static_cast<std::size_t>(word.value);
    tuning.nvls_efficiency[generation] = tables.number("nvls_efficiency", word.text);
    tuning.graphs[generation] = tables.graph(word.value);
  }
  read_factors(tables, tuning);
  tuning.tree_correction = tables.rows<NcclProtocol, NcclTuning::k_tree_sizes>("tree_correction");
  tuning.threads = tables.row<protocols>("threads");
  tuning.bytes_of_a_thread = tables.row<protocols>("bytes_of_a_thread");
  SHARDLAB_CHECK_OK(tables.status());
  return tuning;
}

}  // namespace

Result<NcclTuning> read_nccl_tuning() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("network/nccl.yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(path));
  return read_tables(*root);
}

}  // namespace shardlab
