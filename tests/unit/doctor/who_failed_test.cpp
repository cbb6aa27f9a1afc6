// Who failed first, where, and with which figures: what a log tells beside its messages.
#include "engine/base/text/log_lines.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/log/training_figures.h"
#include "engine/doctor/unknown_failure.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

LogFacts facts_of(const std::string& text) {
  return read_log(text, all_signs());
}

TEST_CASE("launchers say which process failed first, each in its own words") {
  const auto failure = [](const std::string& line) { return facts_of(line + "\n").first_failure; };
  const auto torchrun =
      failure("E api.py:869] failed (exitcode: -11) local_rank: 5 (pid: 30) of binary: python");
  REQUIRE(torchrun);
  CHECK(torchrun->rank == 5);
  CHECK(torchrun->exit_code == -11);
  CHECK(failure("Process 7 exits with return code = -6")->exit_code == -6);
  CHECK(failure("ERROR:composer.cli.launcher:Rank 2 crashed with exit code 1.")->rank == 2);
  CHECK(failure("srun: error: n1: task 3: Exited with exit code 2")->rank == 3);
  CHECK(failure("pod w-0 container pytorch exitCode: 139 failed")->exit_code == -11);  // 128 + the signal
  CHECK(failure("mpirun noticed that process rank 3 with PID 0 on node n1 exited on signal 11")->exit_code ==
        -11);
  CHECK(failure("ProcessExitedException: process 1 terminated with signal SIGABRT")->exit_code == -6);
  CHECK(failure("CalledProcessError: Command '['python', 'a.py']' died with <Signals.SIGABRT: 6>.")
            ->exit_code == -6);
  CHECK(failure("CalledProcessError: Command '['python']' returned non-zero exit status 2.")->exit_code == 2);
  const auto bare = failure("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:");
  REQUIRE(bare);
  CHECK_FALSE(bare->exit_code);
  CHECK_FALSE(failure("worker 3 exited with code 0, no error"));
  CHECK_FALSE(failure("ERROR: process 4 exited with code 143"));  // told to end, because another one failed
}

TEST_CASE("of torchrun's summary the root cause counts, and what failed later is not a cause") {
  const std::string summary =
      "[rank0]: RuntimeError: a\n[rank3]: ValueError: b\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
      "Failures:\n[1]:\n  rank      : 0 (local_rank: 0)\n  exitcode  : -9 (pid: 1)\n"
      "Root Cause (first observed failure):\n[0]:\n  rank      : 3 (local_rank: 1)\n  exitcode  : 1 (pid: "
      "2)\n";
  const LogFacts facts = facts_of(summary);
  REQUIRE(facts.first_failure);
  CHECK(facts.first_failure->rank == 3);
  CHECK(facts.first_failure->exit_code == 1);
  REQUIRE(facts.likely);
  CHECK(facts.likely->rank == 3);
  CHECK(test::finding_of_rule(test::examine_text(summary), "memory/host-exhausted") == nullptr);
}

TEST_CASE("a process that says nothing is told by its rank and its signal") {
  const Examination found =
      test::examine_text("E api.py:869] failed (exitcode: -11) local_rank: 5 (pid: 30)\n");
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings.front().rule == k_unknown_rule);
  CHECK(found.findings.front().message.find("Rank 5 ended first, by signal 11 (a segmentation fault)") == 0);
}

TEST_CASE("a failure that no rule knows is told with the frame that raised it and the user's own") {
  const Examination found = test::examine_text(
      "[rank1]: Traceback (most recent call last):\n"
      "[rank0]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/home/a/train.py\", line 88, in main\n"
      "[rank0]:   File \"/home/a/other.py\", line 7, in main\n"
      "[rank1]:   File \"/env/lib/python3.12/site-packages/torch/x.py\", line 12, in step\n"
      "[rank1]: ZebraError: no stripes\n");
  REQUIRE_FALSE(found.findings.empty());
  CHECK(found.findings.front().message.find(
            "raised in torch/x.py:12 (step), called from /home/a/train.py:88 (main)") != std::string::npos);
}

TEST_CASE("figures are known by their names, wherever a line has them") {
  CHECK(non_finite_figure("{'loss': nan, 'lr': 1e-5}") == "loss");
  CHECK(non_finite_figure("step 4 | grad norm: inf | lm loss: 2.0"));
  CHECK_FALSE(non_finite_figure("best_loss: inf"));
  CHECK_FALSE(non_finite_figure("number of nan iterations: 0 | loss: 2.1"));
  CHECK(tells_of_no_scale("iteration 9: reducing loss scale to 2.9e-39"));
  CHECK_FALSE(tells_of_no_scale("attempted loss scale: 65536, reducing to 32768"));
}

TEST_CASE("a long line is shown from shortly before what matters") {
  const std::string line = std::string(500, 'x') + " needle in a haystack " + std::string(500, 'y');
  const std::string shown = readable_around(line, 501);
  CHECK(shown.find("needle") != std::string::npos);
  CHECK(shown.find("needle") < 120);
}

TEST_CASE("a rank that waits in no collective is the one that is behind") {
  const Examination found = test::examine_text(
      "[rank0]:[E a.cpp:1] [PG ID 1 PG GUID 5 Rank 0] Timeout at work: 8, last enqueued NCCL work: 8, last "
      "completed NCCL work: 7.\n"
      "[rank1]:[E a.cpp:1] [PG ID 1 PG GUID 5 Rank 1] Received a dump signal due to a collective timeout. "
      "Last "
      "enqueued NCCL work: 7, last completed NCCL work: 7.\n");
  const Finding* finding = test::finding_of_rule(found, "collectives/rank-skips");
  REQUIRE(finding != nullptr);
  CHECK(finding->message.find("1") != std::string::npos);
}

TEST_CASE("exit -9 is a symptom beside a cause, and the finding alone") {
  const std::string killed = "failed (exitcode: -9) local_rank: 5 (pid: 2630) of binary: python\n";
  CHECK(test::examine_text(killed).findings.front().rule == "memory/host-exhausted");
  const Examination both = test::examine_text(
      "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" + killed);
  CHECK(both.findings.front().rule != "memory/host-exhausted");
}

}  // namespace
}  // namespace shardlab
