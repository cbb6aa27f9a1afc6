#include "engine/base/boxed.h"

#include <string>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("a box is made with its value and copied with it") {
  Boxed<std::string> box;
  CHECK(box->empty());
  *box = "eight ranks";
  Boxed<std::string> copy = box;
  CHECK(copy == box);
  *copy = "two ranks";
  CHECK(*box == "eight ranks");
  box = copy;
  CHECK(*box == "two ranks");
  const Boxed<std::string>& same = box;
  box = same;
  CHECK(*box == "two ranks");
}

TEST_CASE("a box that was moved from can be assigned to") {
  Boxed<std::string> box;
  *box = "eight ranks";
  const Boxed<std::string> taken = std::move(box);
  CHECK(*taken == "eight ranks");
  box = taken;
  CHECK(*box == "eight ranks");
}

TEST_CASE("an optional box holds nothing until it is filled, and copies that too") {
  BoxedOptional<std::string> box;
  CHECK_FALSE(box);
  CHECK_FALSE(box.has_value());
  const BoxedOptional<std::string> empty = box;
  CHECK(empty == box);
  box.emplace() = "teacher";
  CHECK(*box == "teacher");
  CHECK_FALSE(empty == box);
  BoxedOptional<std::string> copy = box;
  copy->append("s");
  CHECK(*box == "teacher");
  copy = box;
  CHECK(copy == box);
  const BoxedOptional<std::string>& same = copy;
  copy = same;
  CHECK(*copy == "teacher");
  copy = empty;
  CHECK_FALSE(copy);
  box.reset();
  CHECK_FALSE(box);
}

}  // namespace
}  // namespace shardlab
