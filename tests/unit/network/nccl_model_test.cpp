// NCCL's tuning model against vectors of another implementation, and what it chooses.
#include <fstream>
#include <sstream>
#include <string>

#include "simulator/network/nccl_model.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/network/clusters.h"

namespace shardlab {
namespace {

struct Vectors {
  NcclTuning tuning;
  NcclGraph graph;
  GroupShape shape;
  int rows = 0;

  void read_group(std::istringstream& line) {
    std::string generation;
    line >> generation >> shape.ranks >> shape.nodes >> graph.channels >> graph.inside_bandwidth >>
        graph.between_bandwidth >> graph.nvls_channels >> graph.nvls_bandwidth;
    graph.generation = parse_word<NcclGeneration>(generation).value();
    shape.fewest = shape.ranks / shape.nodes;
  }

  void check_row(const std::string& kind_word, std::istringstream& line) {
    std::string algorithm, protocol;
    double latency = 0, bandwidth = 0;
    line >> algorithm >> protocol >> latency >> bandwidth;
    const auto kind = parse_word<CollectiveKind>(kind_word).value();
    bool found = false;
    for (const NcclCandidate& candidate : nccl_candidates(tuning, graph, shape, kind)) {
      if (to_string(candidate.algorithm) != algorithm || to_string(candidate.protocol) != protocol) continue;
      found = true;
      CHECK(candidate.latency_us == Approx(latency).margin(0.051));    // the vectors have one decimal,
      CHECK(candidate.bandwidth == Approx(bandwidth).margin(0.0051));  // and two
    }
    CHECK(found);
    ++rows;
  }
};

TEST_CASE("every vector of NCCL's tuning model") {
  const auto tuning = read_nccl_tuning();
  REQUIRE_OK(tuning);
  Vectors vectors{*tuning, {}, {}};
  std::ifstream file(test::data_file("network/nccl_tuning.vectors"));
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string first;
    if (!(line >> first) || first[0] == '#') continue;
    INFO(text);
    if (first == "group") {
      vectors.read_group(line);
    } else {
      vectors.check_row(first, line);
    }
  }
  CHECK(vectors.rows == 29);
}

NcclCandidate choice(const Device& device, CollectiveKind kind, std::int64_t bytes) {
  const GroupShape shape = shape_of_all(device);
  const NcclGraph graph = graph_of(device, shape);
  const NcclTuning& tuning = device.network.nccl;
  return nccl_choice(nccl_candidates(tuning, graph, shape, kind), tuning, graph, shape, kind, {bytes});
}

TEST_CASE("small messages go by protocols without flags of their own, large ones by bandwidth") {
  const Device h100 = test::cluster("dgx-h100", 1);
  CHECK(choice(h100, CollectiveKind::all_gather, 4096).protocol == NcclProtocol::ll);
  CHECK(choice(h100, CollectiveKind::all_gather, 1 << 30).protocol == NcclProtocol::simple);
  CHECK(choice(h100, CollectiveKind::all_gather, 1 << 30).algorithm == NcclAlgorithm::ring);
  // The switch reduces, which helps an all-reduce, and gathers no faster than a ring.
  CHECK(choice(h100, CollectiveKind::all_reduce, 1 << 30).algorithm == NcclAlgorithm::nvls);
  CHECK(choice(test::cluster("dgx-a100", 1), CollectiveKind::all_reduce, 1 << 30).algorithm ==
        NcclAlgorithm::ring);
}

TEST_CASE("between nodes: trees for all-reduces of middle size, PAT for one GPU a node") {
  const Device many = test::cluster("dgx-h100", 16);
  CHECK(choice(many, CollectiveKind::all_reduce, 1 << 16).algorithm == NcclAlgorithm::tree);
  CHECK(choice(many, CollectiveKind::all_gather, 1 << 16).algorithm == NcclAlgorithm::ring);
  Device single = test::cluster("dgx-h100", 64);
  single.ranks_per_node = 1;
  single.ranks = single.nodes;
  CHECK(choice(single, CollectiveKind::all_gather, 8 << 20).algorithm == NcclAlgorithm::pat);
}

TEST_CASE("channels add up to the wires of the group") {
  const Device many = test::cluster("dgx-h100", 4);
  const NcclGraph all = graph_of(many, shape_of_all(many));
  CHECK(all.channels == 8);
  CHECK(all.between_bandwidth == Approx(45));  // not 48: eight of 48 would be more than the ring in the node
  const NcclGraph replicas = graph_of(many, {4, 4, 1});
  CHECK(replicas.channels == 1);
  CHECK(replicas.between_bandwidth == Approx(48));
  CHECK(graph_of(test::cluster("dgx-h100", 1), {8, 1, 8}).nvls_channels == 8);
  CHECK(graph_of(test::cluster("dgx-h100", 1), {2, 1, 2}).nvls_channels == 0);
}

}  // namespace
}  // namespace shardlab
