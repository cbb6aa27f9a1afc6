#include "engine/execute/meeting/value_table.h"

#include <thread>

#include "engine/base/result.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;

TEST_CASE("values as c10d's stores keep them") {
  ValueTable table;
  CHECK_FALSE(table.get("a"));
  table.set("a", std::string("\0x", 2));
  CHECK(table.get("a") == std::string("\0x", 2));
  table.append("a", "y");
  table.append("b", "z");
  CHECK(table.get("a") == std::string("\0xy", 3));
  CHECK(table.get("b") == "z");
  CHECK(table.add("n", 3) == 3);
  CHECK(table.add("n", -1) == 2);
  CHECK(table.get("n") == "2");
  CHECK(table.add("b", 1) == 1);
  CHECK(table.size() == 3);
  CHECK(table.erase("n"));
  CHECK_FALSE(table.erase("n"));
  CHECK(table.has({"a", "b"}));
  CHECK_FALSE(table.has({"a", "n"}));
}

TEST_CASE("a value is replaced where it is the expected one") {
  ValueTable table;
  CHECK(table.compare_set("a", "x", "y") == "x");
  CHECK_FALSE(table.get("a"));
  CHECK(table.compare_set("a", "", "y") == "y");
  CHECK(table.compare_set("a", "x", "z") == "y");
  CHECK(table.compare_set("a", "y", "z") == "z");
}

TEST_CASE("keys are waited for until they are there, the time is over, or the table closes") {
  ValueTable table;
  CHECK_FALSE(table.wait({"a"}, 1ms));
  std::thread writer([&] {
    table.set("a", "1");
    table.set("b", "1");
  });
  CHECK(table.wait({"a", "b"}, 10s));
  writer.join();
  std::thread closer([&] { table.close(); });
  CHECK_FALSE(table.wait({"c"}, 10s));
  closer.join();
}

}  // namespace
}  // namespace shardlab
