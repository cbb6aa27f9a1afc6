#include "gui/session/doctor.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "gui/session/session.h"
#include "simulator/remedies/trials.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

using namespace test;
namespace fs = std::filesystem;

const char* const k_out_of_memory =
    "step 1 loss 5.1\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 388.00 MiB. GPU 0 has a total "
    "capacity of 9.68 GiB of which 95.75 MiB is free. Including non-PyTorch memory, this process has 9.54 "
    "GiB "
    "memory in use. Of the allocated memory 6.61 GiB is allocated by PyTorch, and 2.57 GiB is reserved by "
    "PyTorch but unallocated.\n"
    "[rank3]: the last line\n";

const Finding* found(const Examination& examination, std::string_view rule) {
  const auto& findings = examination.findings;
  const auto same = [&](const Finding& finding) { return finding.rule == rule; };
  const auto finding = std::find_if(findings.begin(), findings.end(), same);
  return finding == findings.end() ? nullptr : &*finding;
}

const Finding* found(const Session& session, std::string_view rule) {
  return session.doctor().scenario() ? found(session.doctor().scenario()->examination, rule) : nullptr;
}

// With the panel open: somebody asked.
void open(Session& session) {
  REQUIRE(session.open(data_file("doctor/scenarios/memory.batch-too-large.yaml")));
  session.doctor().ask();
  session.settle();
}

void settle_logs(Session& session) {
  session.doctor().wait_until_done();
  session.update(session.now());
}

}  // namespace

TEST_CASE("nothing is examined before somebody asks") {
  Session session;
  REQUIRE(session.open(data_file("doctor/scenarios/memory.batch-too-large.yaml")));
  session.settle();
  CHECK_FALSE(session.doctor().scenario());
  CHECK_FALSE(session.busy());
  session.doctor().ask();
  CHECK(session.busy());
  session.settle();
  CHECK(found(session, "memory/batch-too-large"));
}

TEST_CASE("findings follow every edit, and are stale until they do") {
  Session session;
  open(session);
  CHECK_FALSE(session.findings_are_stale());
  REQUIRE(found(session, "memory/batch-too-large"));
  const auto before = session.doctor().scenario();
  session.set("train.micro_batch", "1");
  CHECK(session.findings_are_stale());
  CHECK(session.doctor().scenario() == before);
  session.settle();
  CHECK_FALSE(session.findings_are_stale());
  CHECK_FALSE(found(session, "memory/batch-too-large"));
  session.undo();
  session.settle();
  CHECK(session.doctor().scenario()->examination.findings == before->examination.findings);
}

TEST_CASE("of many quick edits only the last is examined to its end") {
  Session session;
  open(session);
  for (int i = 2; i <= 20; ++i) {
    session.set("train.micro_batch", std::to_string(i));
    session.update(i * 0.01);
  }
  session.set("train.micro_batch", "1");
  session.settle();
  CHECK_FALSE(session.findings_are_stale());
  CHECK_FALSE(found(session, "memory/batch-too-large"));
}

TEST_CASE("a fix is one edit whose effect is the predicted one, and undo takes it back") {
  Session session;
  REQUIRE(session.open(data_file("doctor/scenarios/memory.activations-dominate.yaml")));
  session.doctor().ask();
  session.settle();
  const Finding finding = *found(session, "memory/activations-dominate");
  REQUIRE(finding.fix.set.size() > 1);
  REQUIRE(finding.effect);
  const std::string before = session.document().text();
  REQUIRE(session.set_all(finding.fix.set));
  session.settle();
  CHECK(cost_of(session.prediction()->summary()) == finding.effect->after);
  CHECK_FALSE(found(session, "memory/activations-dominate"));
  session.undo();
  session.settle();
  CHECK(session.document().text() == before);
  CHECK(cost_of(session.prediction()->summary()) == finding.effect->before);
  CHECK_FALSE(session.document().can_undo());
}

TEST_CASE("mistakes of a scenario are findings that name their setting") {
  Session session;
  open(session);
  session.set("train.micro_batch", "0");
  session.settle();
  const Finding* const mistake = found(session, "scenario/mistake");
  REQUIRE(mistake);
  CHECK(mistake->evidence.front().key == "train.micro_batch");
  CHECK_FALSE(session.findings_are_stale());
  CHECK_FALSE(session.doctor().scenario()->prediction);
  CHECK_FALSE(session.set_all({"train.accumulation=2"}));
}

TEST_CASE("evidence names the setting or the instruction that it is about") {
  Session session;
  open(session);
  const Finding* const finding = found(session, "memory/batch-too-large");
  REQUIRE(finding);
  REQUIRE(finding->evidence.size() >= 2);
  CHECK(finding->evidence[0].instruction == session.prediction()->summary().memory->peak_instruction);
  CHECK(finding->evidence[1].key == "train.micro_batch");
}

TEST_CASE("another document has findings of its own") {
  Session session;
  open(session);
  session.open_text(session.document().text());
  CHECK_FALSE(session.doctor().scenario());
  session.settle();
  CHECK(session.doctor().scenario());
}

TEST_CASE("a pasted log is examined beside the scenario, with the lines around what shows it") {
  Session session;
  session.doctor().paste_log(k_out_of_memory);
  CHECK(session.busy());
  settle_logs(session);
  REQUIRE(session.doctor().logs().size() == 1);
  const ExaminedLog& log = *session.doctor().logs().front();
  CHECK(log.name == "pasted log");
  REQUIRE_FALSE(log.error);
  const Finding* const finding = found(log.examination, "memory/fragmentation");
  REQUIRE(finding);
  CHECK(finding->evidence.front().line == 2);
  CHECK(log.lines.at(1) == "step 1 loss 5.1");
  CHECK(log.lines.at(2) == finding->evidence.front().text);
  CHECK(log.lines.at(3) == "[rank3]: the last line");
  session.doctor().paste_log("step 1 loss 5.1\n");
  settle_logs(session);
  CHECK(session.doctor().logs().back()->name == "pasted log 2");
  CHECK(session.doctor().logs().back()->examination.findings.empty());
  session.doctor().clear_logs();
  CHECK(session.doctor().logs().empty());
}

TEST_CASE("a log that is dropped on the window is read, and read again when it is dropped again") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "job.out";
  std::ofstream(file) << "step 1 loss 5.1\n";
  Session session;
  REQUIRE(session.open_any({file}));
  settle_logs(session);
  REQUIRE(session.doctor().logs().size() == 1);
  CHECK(session.doctor().logs().front()->name == "job.out");
  CHECK(session.doctor().logs().front()->examination.findings.empty());
  std::ofstream(file) << std::string(3 << 20, '.') << "\n" << k_out_of_memory;
  REQUIRE(session.open_any({file}));
  settle_logs(session);
  REQUIRE(session.doctor().logs().size() == 1);
  CHECK(found(session.doctor().logs().front()->examination, "memory/fragmentation"));
  CHECK(session.doctor().logs_given() == 2);
  CHECK(session.documents_opened() == 0);
}

TEST_CASE("what is no log is told: a picture when it is dropped, rubbish and nothing when it is read") {
  const TemporaryFolder folder;
  const fs::path picture = folder.path() / "picture.png";
  std::ofstream(picture, std::ios::binary) << std::string("\x89PNG\x0d\x0a\x1a\x0a\0\0\0\1\2\3\4\5\6\7", 18);
  Session session;
  CHECK_FALSE(session.open_any({picture}));
  CHECK(session.doctor().logs().empty());
  session.doctor().read_log(picture);
  session.doctor().read_log(folder.path() / "missing.log");
  session.doctor().read_log(folder.path());
  session.doctor().paste_log("");
  const fs::path pipe = folder.path() / "pipe.log";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  session.doctor().read_log(pipe);
  settle_logs(session);
  REQUIRE(session.doctor().logs().size() == 5);
  for (const auto& log : session.doctor().logs()) CHECK(log->error);
}

}  // namespace shardlab::gui
