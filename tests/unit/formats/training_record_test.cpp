// record.json: what is read, and what is told of a damaged one.
#include "engine/formats/record/training_record.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/formats/record/import_record.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using nlohmann::json;

json good_record() {
  const auto rank = [](int number, double slower) {
    return json{{"rank", number}, {"seconds", {1.0, 0.5 * slower, 0.25}}, {"peak_allocated", 1000 + number}};
  };
  return {{"format", "shardlab-record"},       {"version", 1},
          {"scenario", "name: a\n"},           {"device", "cpu"},
          {"versions", {{"torch", "2.11.0"}}}, {"warmup", 1},
          {"losses", {3.0, 2.0, 1.0}},         {"ranks", {rank(0, 1), rank(1, 1.5)}}};
}

class File {
 public:
  explicit File(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "shardlab-record-test.json") {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string complaint_about(const json& record) {
  const File file(record.dump());
  const auto read = read_training_record(file.path());
  return read ? "none" : read.error().what;
}

TEST_CASE("training record: steps are as long as their slowest rank, without the warm-up") {
  const File file(good_record().dump());
  const auto read = read_training_record(file.path());
  REQUIRE(read);
  CHECK(read->versions.at("torch") == "2.11.0");
  CHECK(measured_steps(*read) == std::vector{Nanoseconds{750'000'000}, Nanoseconds{250'000'000}});
  RunSummary summary;
  lay_over(*read, summary);
  CHECK(summary.step_time.median == Nanoseconds{500'000'000});
  CHECK(summary.step_time.n == 2);
  REQUIRE(summary.memory);
  CHECK(summary.memory->peak_allocated == Bytes{1001});
  CHECK(!summary.memory->peak_reserved);
}

TEST_CASE("training record: what is damaged is told") {
  const auto with = [](const char* pointer, json value) {
    json record = good_record();
    record[json::json_pointer(pointer)] = std::move(value);
    return complaint_about(record);
  };
  CHECK(complaint_about(good_record()) == "none");
  CHECK(with("/format", "other") == "is no record of a training");
  CHECK(with("/version", 2) == "is of version 2, this program reads 1");
  CHECK(with("/ranks", json::array()) == "has no ranks");
  CHECK(with("/ranks/1/rank", 3) == "has rank 3 where rank 1 should be");
  CHECK(with("/ranks/1/seconds", json::array({1.0})) == "rank 1 has 1 steps, there are 3 losses");
  CHECK(with("/warmup", 3) == "3 steps of warm-up leave none of 3");
  CHECK(with("/ranks/0/seconds/0", -1).starts_with("is damaged"));
  CHECK(with("/ranks/0/peak_allocated", -1).starts_with("is damaged"));
  CHECK(with("/losses", "many").starts_with("is damaged"));
  CHECK(complaint_about(json::array()).starts_with("is damaged"));
  const File cut(good_record().dump().substr(0, 100));
  CHECK(!read_training_record(cut.path()));
  CHECK(!read_training_record("/nowhere/record.json"));
}

}  // namespace
}  // namespace shardlab
