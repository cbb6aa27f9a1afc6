#include "engine/execute/rank_job.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/version.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using test::contains_text;
using Json = nlohmann::ordered_json;

RankJob full_job() {
  RankJob job;
  job.kind = JobKind::probe;
  job.version = program_version();
  job.scenario = "name: \"quoted\"\ncluster: {device: cpu}\n";
  job.directory = "/some where";
  job.run_hash = "abc";
  job.threads = 3;
  job.environment = {{"A", "1"}, {"PYTORCH_ALLOC_CONF", "x:y"}};
  job.extras = {"/w.safetensors", "/load.json", "/history.pickle", true};
  job.probes = {1234, {{"linear.float32", {{"rows", 3}, {"inputs", 4}}}, {"pairs", {{"bytes", 4096}}}}};
  return job;
}

Json json_of(const RankJob& job) {
  const auto text = rank_job_text(job);
  REQUIRE_OK(text);
  return Json::parse(*text);
}

void require_refused(const Json& json, const std::string& what, ErrorKind kind = ErrorKind::bad_input) {
  INFO(json.dump());
  const auto job = parse_rank_job(json.dump());
  REQUIRE_FALSE(job);
  CHECK(job.error().kind == kind);
  CHECK(job.error().what == what);
  CHECK_THAT(job.error().hint, contains_text("same version of shardlab"));
}

TEST_CASE("a job reads back from its file, whose folder is made") {
  RankJob least;
  least.version = program_version();
  for (const RankJob& job : {full_job(), least}) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = rank_job_path(folder.path() / "run", 3);
    CHECK(file.filename() == "job-3.json");
    REQUIRE_OK(write_rank_job(file, job));
    const auto back = read_rank_job(file);
    REQUIRE_OK(back);
    CHECK(*back == job);
  }
}

TEST_CASE("every field of a job must be there, and no other, at every depth") {
  const Json good = json_of(full_job());
  for (const std::string above : {"", "extras", "probes", "probes.cases.0"}) {
    const std::string dots = above.empty() ? "" : above + ".";
    std::string slashes = above.empty() ? "" : "/" + above;
    std::replace(slashes.begin(), slashes.end(), '.', '/');
    const Json::json_pointer place(slashes);
    for (const auto& [name, value] : good[place].items()) {
      Json lacking = good;
      lacking[place].erase(name);
      require_refused(lacking, "'" + dots + name + "' is missing");
    }
    Json surplus = good;
    surplus[place]["colour"] = "red";
    require_refused(surplus, "'" + dots + "colour' is unknown");
  }
  REQUIRE_OK(parse_rank_job(good.dump()));
}

TEST_CASE("a job of another version is refused, whatever else it holds") {
  const Json other = {{"version", "0.0.0-other"}, {"colour", "red"}};
  require_refused(other,
                  "was written by shardlab 0.0.0-other, this rank is " + std::string(program_version()),
                  ErrorKind::run_failed);
  require_refused({{"version", 1}}, "'version' cannot be 1");
}

TEST_CASE("values of the wrong kind are refused, also those that the library would round") {
  const Json good = json_of(full_job());
  for (const auto& [pointer, value, what] :
       {std::tuple<const char*, Json, const char*>{"/threads", "two", R"('threads' cannot be "two")"},
        {"/threads", 2.5, "'threads' cannot be 2.5"},
        {"/threads", 5'000'000'000, "'threads' cannot be 5000000000"},
        {"/threads", 0, "'threads' must be at least 1"},
        {"/kind", "sleep", R"('kind' cannot be "sleep")"},
        {"/extras", 5, "'extras' cannot be 5"},
        {"/extras/poison", "yes", R"('extras.poison' cannot be "yes")"},
        {"/extras/save_load", {{"bytes", "ff"}}, R"('extras.save_load' cannot be {"bytes":"ff"})"},
        {"/probes/cases", 1, "'probes.cases' cannot be 1"},
        {"/probes/cases/1/shape", {{"bytes", true}}, R"('probes.cases.1.shape' cannot be {"bytes":true})"},
        {"/environment", "A=1", R"('environment' cannot be "A=1")"}}) {
    Json wrong = good;
    wrong[Json::json_pointer(pointer)] = value;
    require_refused(wrong, what);
  }
}

TEST_CASE("files that are no job are refused by name") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "job.json";
  const auto refused_with = [&](const char* what) {
    const auto job = read_rank_job(file);
    REQUIRE_FALSE(job);
    CHECK(job.error().kind == ErrorKind::bad_input);
    CHECK(job.error().place.file == file.string());
    CHECK_THAT(job.error().what, contains_text(what));
    CHECK_FALSE(job.error().hint.empty());
  };
  refused_with("cannot read its job: no such file");
  std::string wide = "{";
  for (int i = 0; i < 200'000; ++i) wide += "\"k" + std::to_string(i) + "\":0,";
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("3"),
                                  std::string("\xff\xfe"), wide + "\"end\":0}"}) {
    INFO(text.substr(0, 20));
    std::ofstream(file) << text;
    refused_with("is not the job of a rank");
  }
  std::ofstream(file, std::ios::trunc).close();
  refused_with("cannot read its job: it is empty");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  refused_with("cannot read its job: is a folder, not a job of a rank");
  std::filesystem::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  refused_with("cannot read its job: is a pipe, not a job of a rank");
}

TEST_CASE("a job that cannot be written is an error with the file's name") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "run") << "a file where the folder should be";
  const Status written = write_rank_job(rank_job_path(folder.path() / "run"), full_job());
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == ErrorKind::run_failed);
  CHECK(written.error().place.file == (folder.path() / "run").string());
}

TEST_CASE("paths may hold any bytes, as the system's names may") {
  RankJob job = full_job();
  job.extras.save_weights = "/\xff.safetensors";
  job.directory = "/\xc3";
  const auto text = rank_job_text(job);
  REQUIRE_OK(text);
  const auto back = parse_rank_job(*text);
  REQUIRE_OK(back);
  CHECK(*back == job);
}

TEST_CASE("a variable that is no UTF-8 cannot be told") {
  RankJob job = full_job();
  job.environment["NAME"] = "\xff";
  const auto text = rank_job_text(job);
  REQUIRE_FALSE(text);
  CHECK(text.error().kind == ErrorKind::bad_input);
  CHECK(text.error().place.name == "launch.environment");
}

TEST_CASE("the command line of a rank") {
  const auto parse = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "shardlab-rank");
    return parse_rank_command(static_cast<int>(arguments.size()), arguments.data());
  };
  const auto command = parse({"--job", "/run/job.json", "--parent", "12"});
  REQUIRE_OK(command);
  CHECK(command->job == "/run/job.json");
  CHECK(command->parent == 12);
  for (const std::vector<const char*>& wrong : {std::vector<const char*>{},
                                                {"--job"},
                                                {"--job", "j", "--parent"},
                                                {"--parent", "1"},
                                                {"--job", "j", "--parent", "x"},
                                                {"--job", "j", "--poison", "1"}}) {
    const auto refused = parse(wrong);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().hint, contains_text("not by hand"));
  }
}

}  // namespace
}  // namespace shardlab
