// Watching a child: here a script that says what shardlab would say, so that every end can be tried.
#include "gui/view_model/job.h"

#include <signal.h>

#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;
namespace fs = std::filesystem;

namespace {

JobRequest script(const TemporaryFolder& folder, const std::string& text, JobKind kind = JobKind::run) {
  const fs::path program = folder.path() / "shardlab";
  std::ofstream(program) << "#!/bin/sh\n" << text;
  fs::permissions(program, fs::perms::owner_all);
  JobRequest request;
  request.program = program;
  request.kind = kind;
  request.scenario = "s.yaml";
  return request;
}

template <typename Condition>
void poll_until(Job& job, Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) {
    job.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(condition());
}

}  // namespace

TEST_CASE("the command is what a person would type") {
  JobRequest request{"shardlab", JobKind::validate, "s.yaml", "runs.db", {"train.micro_batch=2"}};
  CHECK(job_arguments(request) == std::vector<std::string>{"validate", "s.yaml", "--set",
                                                           "train.micro_batch=2", "--db", "runs.db",
                                                           "--progress", "json"});
  request = {"shardlab", JobKind::calibrate, "s.yaml", {}, {}};
  CHECK(job_arguments(request) ==
        std::vector<std::string>{"calibrate", "--scenario", "s.yaml", "--progress", "json"});
}

TEST_CASE("events and lines of a run are told apart") {
  JobOutput output;
  take_output_line(output, "no calibration of this machine: calibrating first");
  take_output_line(output, R"({"event":"calibrating","what":"matmul"})");
  CHECK(output.activity == "calibrating matmul");
  take_output_line(output, R"({"event":"training","steps_done":0,"steps":20,"loss":null})");
  CHECK(output.history.empty());
  take_output_line(output, R"({"event":"training","steps_done":3,"steps":20,"loss":2.5,"step_time_ns":1000,)"
                           R"("tokens_per_second":64.5,"peak_bytes":77})");
  REQUIRE(output.history.size() == 1);
  CHECK(output.history[0].step == 3);
  CHECK(output.history[0].loss == 2.5);
  CHECK(output.history[0].step_time == Nanoseconds{1000});
  CHECK(output.history[0].peak == Bytes{77});
  CHECK(output.steps == 20);
  take_output_line(output, R"({"event":"stored","run_id":"r7","kind":"measured","plan_hash":"abc"})");
  REQUIRE(output.stored.size() == 1);
  CHECK(output.stored[0].id == RunId{7});
  CHECK(output.lines.size() == 1);
}

TEST_CASE("what is no event, or a damaged one, is a line of the log") {
  JobOutput output;
  for (const char* line :
       {R"({"event":"unheard of"})", R"({"event":)", R"({"event":7})", "{}", "", R"({"event":"training)"})
    take_output_line(output, line);
  CHECK(output.lines.size() == 6);
  take_output_line(output, R"({"event":"training","steps_done":"three","steps":null,"loss":"nan"})");
  take_output_line(output, R"({"event":"stored","run_id":5})");
  CHECK(output.history.empty());
  CHECK(output.stored.empty());
  for (std::size_t i = 0; i < 3 * JobOutput::k_most_lines; ++i) take_output_line(output, "line");
  CHECK(output.lines.size() <= JobOutput::k_most_lines);
  CHECK(output.dropped_lines + output.lines.size() == 6 + 3 * JobOutput::k_most_lines);
}

TEST_CASE("a child is followed while it runs, to its good end") {
  const TemporaryFolder folder;
  const fs::path go = folder.path() / "go";
  auto job = Job::start(script(folder, R"(echo "$@"
echo '{"event":"training","steps_done":1,"steps":2,"loss":3.5}' >&2
while [ ! -e ")" + go.string() + R"(" ]; do sleep 0.01; done
printf '{"event":"stored","run_id":"r3","kind":"measured"}' >&2
)"));
  REQUIRE_OK(job);
  poll_until(**job, [&] { return (*job)->output().steps_done == 1; });
  CHECK((*job)->phase() == JobPhase::running);
  CHECK((*job)->output().lines == std::vector<std::string>{"run s.yaml --progress json"});
  std::ofstream(go) << "";
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::finished);
  CHECK_FALSE((*job)->trouble());
  CHECK((*job)->output().stored.size() == 1);  // the last line had no end
  CHECK((*job)->seconds() > 0);
}

TEST_CASE("a child that fails tells why in its own words") {
  const TemporaryFolder folder;
  auto job = Job::start(script(folder, R"(echo "error: rank 1 failed" >&2
echo '{"event":"error","kind":"run_failed","where":"run","what":"rank 1 failed","hint":"look there"}' >&2
exit 4
)"));
  REQUIRE_OK(job);
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::failed);
  CHECK((*job)->trouble() == Error{ErrorKind::run_failed, "run", "rank 1 failed", "look there"});

  auto silent = Job::start(script(folder, "echo last words; exit 70\n"));
  REQUIRE_OK(silent);
  poll_until(**silent, [&] { return (*silent)->ended(); });
  CHECK((*silent)->trouble()->what == "exit code 70, its last words: last words");
}

TEST_CASE("a child that is killed is a message, with what is likely the matter") {
  const TemporaryFolder folder;
  auto job = Job::start(script(folder, "exec sleep 100\n"));
  REQUIRE_OK(job);
  REQUIRE(::kill((*job)->process(), SIGKILL) == 0);
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::failed);
  REQUIRE((*job)->trouble());
  CHECK((*job)->trouble()->what == "it was killed");
  CHECK_THAT((*job)->trouble()->hint, contains_text("out of memory"));
}

TEST_CASE("a run that is stopped is no failure") {
  const TemporaryFolder folder;
  auto job = Job::start(script(folder, "exec sleep 100\n"));
  REQUIRE_OK(job);
  (*job)->stop();
  CHECK((*job)->phase() == JobPhase::stopping);
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::stopped);
  CHECK_FALSE((*job)->trouble());
}

TEST_CASE("a verdict that is not met is a result, not a failure") {
  const TemporaryFolder folder;
  auto job = Job::start(script(folder, "exit 1\n", JobKind::validate));
  REQUIRE_OK(job);
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::finished);
  CHECK((*job)->verdict_not_met());
  CHECK_FALSE((*job)->not_judged());
}

TEST_CASE("times that were not judged are a result, not a failure") {
  const TemporaryFolder folder;
  auto job = Job::start(script(folder, "exit 5\n", JobKind::validate));
  REQUIRE_OK(job);
  poll_until(**job, [&] { return (*job)->ended(); });
  CHECK((*job)->phase() == JobPhase::finished);
  CHECK((*job)->not_judged());
  CHECK_FALSE((*job)->verdict_not_met());
}

TEST_CASE("a program that is not there is told, and a window that closes takes its child along") {
  CHECK_FALSE(Job::start({"/no/such/shardlab", JobKind::run, "s.yaml", {}, {}}));
  const TemporaryFolder folder;
  int process = 0;
  {
    auto job = Job::start(script(folder, "exec sleep 100\n"));
    REQUIRE_OK(job);
    process = (*job)->process();
  }
  CHECK(::kill(process, 0) != 0);
}
