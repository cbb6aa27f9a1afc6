#include "engine/execute/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// posix_spawn's settings, freed at the end of the scope.
class SpawnSettings {
 public:
  SpawnSettings(const sigset_t& mask, const std::filesystem::path& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal != 0)
    return fmt::format("killed by signal {} ({})", status.signal, ::strsignal(status.signal));
  return fmt::format("exit code {}", status.code);
}

Result<ChildProcess> ChildProcess::start(const ChildCommand& command, const sigset_t& mask) {
  std::vector<std::string> arguments{command.program.string()};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
  const SpawnSettings settings(mask, command.log);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, command.program.c_str(), settings.actions(), settings.attributes(),
                                  pointers(arguments).data(), pointers(environment).data());
  if (error != 0) {
    return not_possible(in_file(command.program.string()),
                        fmt::format("cannot be started: {}", std::strerror(error)),
                        "shardlab-rank belongs beside shardlab");
  }
  return ChildProcess(pid);
}

const std::optional<ExitStatus>& ChildProcess::poll() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    if (WIFSIGNALED(status)) {
      status_ = ExitStatus{0, WTERMSIG(status)};
    } else {
      status_ = ExitStatus{WEXITSTATUS(status), 0};
    }
  }
  return status_;
}

void ChildProcess::send(int signal) const {
  if (!status_) ::kill(pid_, signal);
}

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &original_);
}

SignalWatch::~SignalWatch() {
  while (wait(std::chrono::milliseconds(0)) == SIGCHLD) {
  }
  ::pthread_sigmask(SIG_SETMASK, &original_, nullptr);
}

int SignalWatch::wait(std::chrono::milliseconds time) const {
  const timespec timeout{time.count() / 1000, time.count() % 1000 * 1'000'000};
  const int signal = ::sigtimedwait(&watched_, nullptr, &timeout);
  return signal > 0 ? signal : 0;
}

Result<int> free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = descriptor >= 0 &&
                     ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!bound)
    return not_possible("launch", fmt::format("no free port: {}", std::strerror(reason)),
                        "set launch.master");
  return ntohs(address.sin_port);
}

}  // namespace shardlab
