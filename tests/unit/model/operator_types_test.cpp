// Operators as the program lists them, and their attributes.
#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "engine/model/graph_builder.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

constexpr Attribute<std::int64_t> k_width{"width"};
constexpr Attribute<double> k_share{"share"};
constexpr Attribute<std::int64_t> k_guess{"guess", true};

std::string hash_with(const Attributes& attributes) {
  GraphBuilder builder("made up", {});
  const ModuleId module = builder.add_module(std::nullopt, "", "Model");
  const TensorId x = builder.add_input("x", {1, 1, 8}, DType::float32, TensorRole::activation);
  return structure_hash(
      builder.finish(builder.add_operator(k_gelu, module, {x}, {}, "y", {1, 1, 8}, attributes), "", 1, 1));
}

}  // namespace

TEST_CASE("operators are listed in the order of their names, which are those of the list") {
#define SHARDLAB_NAME(name, device) #name,
  const std::vector<std::string_view> listed{SHARDLAB_OPERATORS(SHARDLAB_NAME)};
#undef SHARDLAB_NAME
  CHECK(std::is_sorted(listed.begin(), listed.end()));
  REQUIRE(operator_types().size() == listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    CHECK(operator_types()[i]->name == listed[i]);
    CHECK(find_operator_type(listed[i]) == operator_types()[i]);
  }
  CHECK(find_operator_type("no such operator") == nullptr);
}

TEST_CASE("an attribute that is missing is an error, unless another value is stated for it") {
  Attributes attributes{{k_width, 7}};
  CHECK(attributes.get(k_width) == 7);
  CHECK(attributes.get_or(k_width, 1) == 7);
  CHECK_FALSE(attributes.find(k_share));
  CHECK(attributes.get_or(k_share, 0.5) == 0.5);
  CHECK_THROWS_AS(attributes.get(k_share), std::logic_error);
  attributes.set(k_share, 0.25);
  attributes.set(k_width, 9);
  CHECK(attributes == Attributes{{k_width, 9}, {k_share, 0.25}});
}

TEST_CASE("attributes are part of a graph's structure, assumptions are not") {
  CHECK(hash_with({{k_width, 7}}) == hash_with({{k_width, 7}, {k_guess, 3}}));
  CHECK(hash_with({{k_width, 7}}) != hash_with({{k_width, 8}}));
  CHECK(hash_with({{k_width, 7}}) != hash_with({{k_width, 7}, {k_share, 0}}));
}

}  // namespace shardlab::test
