#include "engine/doctor/log/likely_line.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace shardlab {
namespace {

constexpr std::array<std::string_view, 11> k_crashes = {"segmentation fault",   "core dumped",
                                                        "fatal python error",   "terminate called",
                                                        "stack smashing",       "illegal instruction",
                                                        "double free",          "fatal error:",
                                                        "*** cancelled at",     "an error occurred in mpi_",
                                                        "mpi_abort was invoked"};
// A thread still ran when the process ended: why it ended stands elsewhere.
constexpr std::string_view k_thread_left = "terminate called without an active exception";
// What launchers raise about a child: the reason is the child's.
constexpr std::array<std::string_view, 3> k_of_launchers = {"childfailederror", "calledprocesserror",
                                                            "processexitedexception"};
// What Python's argparse says before it ends the program.
constexpr std::array<std::string_view, 3> k_of_arguments = {
    ": error: argument ", ": error: the following arguments are required", ": error: unrecognized arguments"};
constexpr std::array<std::string_view, 9> k_likely_words = {
    "error", "exception", "fatal", "failed", "failure", "aborted", "killed", "timeout", "timed out"};
// What says that there is no error.
constexpr std::array<std::string_view, 10> k_harmless = {
    "0 error",   "no error", "errors: 0",           "error_file",         "error: 0",
    "failed: 0", "errors=0", "mean absolute error", "mean squared error", "error rate"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Slurm's own failures. What it says of a task (`srun: error: node1: task 3: Aborted`) follows from the task.
bool is_of_slurm(std::string_view text) {
  constexpr std::string_view k_task = ": task ";
  if (!text.starts_with("srun: error:") && !text.starts_with("slurmstepd: error:")) return false;
  const std::size_t task = text.find(k_task);
  const std::size_t number = task + k_task.size();
  return task == std::string_view::npos || number >= text.size() ||
         std::isdigit(static_cast<unsigned char>(text[number])) == 0;
}

}  // namespace

// `package.module.SomeError: ...` or `SomeError` alone.
bool is_exception_line(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '.'))
    ++end;
  const std::string_view name = text.substr(0, end);
  const bool named = name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt") ||
                     name.ends_with("Exit") || name.ends_with("Fault");
  return named && (end == text.size() || text[end] == ':');
}

Likeliness likeliness_of(std::string_view text, std::string_view lower_case_text) {
  if (lower_case_text.find(k_thread_left) != std::string_view::npos) return Likeliness::word;
  if (has_any(lower_case_text, k_crashes)) return Likeliness::crash;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (has_any(lower_case_text, k_of_launchers)) return Likeliness::word;
  if (is_exception_line(text) || has_any(lower_case_text, k_of_arguments)) return Likeliness::report;
  // What a kernel or a library written in C asserts.
  if (lower_case_text.find("assertion `") != std::string_view::npos) return Likeliness::report;
  if (has_any(lower_case_text, k_harmless)) return Likeliness::none;
  if (is_of_slurm(text)) return Likeliness::report;
  if (lower_case_text.find("exitcode: -") != std::string_view::npos ||
      lower_case_text.find("exits with return code = -") != std::string_view::npos)
    return Likeliness::report;
  if (has_any(lower_case_text, k_likely_words)) return Likeliness::word;
  return Likeliness::none;
}

}  // namespace shardlab
