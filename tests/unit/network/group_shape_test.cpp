// How groups lie on nodes.
#include <numeric>
#include <vector>

#include "simulator/network/group_shape.h"
#include "tests/catch.h"
#include "tests/unit/network/clusters.h"

namespace shardlab {
namespace {

GroupShape shape(const Device& device, std::vector<int> members) {
  return shape_of_group(members, device);
}

TEST_CASE("ranks of a node, across nodes, and on nodes unlike") {
  const Device h100 = test::cluster("dgx-h100", 4);
  CHECK(shape(h100, {0, 1, 2, 3}) == GroupShape{4, 1, 4});
  CHECK(shape(h100, {0, 8, 16, 24}) == GroupShape{4, 4, 1});
  CHECK(shape(h100, {6, 7, 8, 9}) == GroupShape{4, 2, 2});
  CHECK(shape(h100, {5, 6, 7, 8}) == GroupShape{4, 2, 1});  // three and one
  CHECK(shape_of_all(h100) == GroupShape{32, 4, 8});
}

TEST_CASE("what one switch joins is one node") {
  const Device rack = test::cluster("gb200-nvl72-tray", 18);
  std::vector<int> all(72);
  std::iota(all.begin(), all.end(), 0);
  CHECK(shape(rack, all) == GroupShape{72, 1, 72});
  const Device two = test::cluster("gb200-nvl72-tray", 36);
  CHECK(shape_of_all(two) == GroupShape{144, 2, 72});
  CHECK(shape(two, {70, 71, 72, 73}) == GroupShape{4, 2, 2});  // few, and yet of two racks
}

}  // namespace
}  // namespace shardlab
