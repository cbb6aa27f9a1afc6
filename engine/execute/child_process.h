// Child processes and the signals that concern them: the ranks of a run, and a run watched by the window.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"

namespace shardlab {

// How a process ended: an exit code, or the signal that killed it.
struct ExitStatus {
  int code = 0;
  int signal = 0;
  bool good() const { return code == 0 && signal == 0; }
};

// "exit code 3", "killed by signal 9 (Killed)".
std::string to_string(const ExitStatus& status);

struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  EnvironmentVariables environment;  // all of it
  std::filesystem::path log;         // standard output and error
};

class ChildProcess {
 public:
  // not_possible when the program cannot be started. The child has a process group of its own and the signal
  // mask of `mask`.
  static Result<ChildProcess> start(const ChildCommand& command, const sigset_t& mask);

  // Whether it has ended; does not block.
  const std::optional<ExitStatus>& poll();
  const std::optional<ExitStatus>& status() const { return status_; }
  void send(int signal) const;
  pid_t id() const { return pid_; }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<ExitStatus> status_;
};

// While it lives, SIGINT, SIGTERM and SIGCHLD of this thread are held back and can be waited for.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Waits at most that long; the signal, or 0.
  int wait(std::chrono::milliseconds time) const;
  const sigset_t& original_mask() const { return original_; }

 private:
  sigset_t watched_;
  sigset_t original_;
};

// A TCP port of the loopback interface that nobody listens on now.
Result<int> free_port();

}  // namespace shardlab
