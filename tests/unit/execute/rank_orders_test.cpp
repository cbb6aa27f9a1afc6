// Orders of rank 0 reach the processes of its own session, and no others.
#include "engine/execute/rank_orders.h"

#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

OrderWriter writer_in(const std::filesystem::path& folder, int world) {
  auto writer = OrderWriter::create(folder, world);
  REQUIRE_OK(writer);
  return *std::move(writer);
}

TEST_CASE("orders arrive in order, and reports come back") {
  const test::TemporaryFolder here;
  const std::filesystem::path folder = here.path() / "meet";
  OrderWriter writer = writer_in(folder, 2);
  std::vector<RankOrder> seen;
  std::thread follower([&] {
    OrderReader reader(folder, 1);
    while (const auto order = reader.next(seconds(20))) {
      seen.push_back(*order);
      if (order->job.empty()) break;
      (void)reader.report({"host", Nanoseconds{7}, Error{ErrorKind::run_failed, on_rank(1), "no", ""}});
    }
    reader.leave();
  });
  CHECK(writer.gather(seconds(20)).empty());
  REQUIRE_OK(writer.write({"a/job.json", 0}));
  const auto reports = writer.reports(seconds(20));
  REQUIRE_OK(writer.write({{}, 5}));
  follower.join();
  writer.clean_up(seconds(20));
  REQUIRE(reports.size() == 2);
  CHECK_FALSE(reports[0]);
  REQUIRE(reports[1]);
  CHECK(reports[1]->own.value == 7);
  CHECK(reports[1]->error->what == "no");
  CHECK(seen == std::vector<RankOrder>{{"a/job.json", 0}, {{}, 5}});
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("who does not come is named") {
  const test::TemporaryFolder here;
  CHECK(writer_in(here.path() / "meet", 3).gather(milliseconds(1)) == std::vector<int>{1, 2});
}

TEST_CASE("a rank obeys nobody who does not know it") {
  const test::TemporaryFolder here;
  OrderWriter earlier = writer_in(here.path(), 2);
  std::ofstream(here.path() / "here-1") << R"({"name": "another process"})" << '\n';
  CHECK(earlier.gather(milliseconds(1)).empty());
  REQUIRE_OK(earlier.write({"earlier", 0}));
  OrderReader reader(here.path(), 1);
  CHECK_FALSE(reader.next(milliseconds(1)));
  // The next session begins with an empty folder.
  OrderWriter later = writer_in(here.path(), 2);
  CHECK_FALSE(reader.next(milliseconds(1)));
  CHECK(later.gather(milliseconds(1)).empty());
  REQUIRE_OK(later.write({"later", 0}));
  CHECK(reader.next(milliseconds(1)) == RankOrder{"later", 0});
}

TEST_CASE("half a file is no order") {
  const test::TemporaryFolder here;
  OrderWriter writer = writer_in(here.path(), 2);
  OrderReader reader(here.path(), 1);
  CHECK_FALSE(reader.next(milliseconds(1)));
  CHECK(writer.gather(milliseconds(1)).empty());
  std::ofstream(here.path() / "order-1") << R"({"job": "a)";
  CHECK_FALSE(reader.next(milliseconds(1)));
}

}  // namespace
}  // namespace shardlab
