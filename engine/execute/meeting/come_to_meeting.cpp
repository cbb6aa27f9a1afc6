#include "engine/execute/meeting/come_to_meeting.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/execute/meeting/meeting_file.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using Clock = StreamSocket::Clock;

constexpr std::chrono::milliseconds k_again{20};
// A run that ended badly may keep its meeting for a moment at the port of the next one.
constexpr std::chrono::seconds k_refusals{5};
constexpr std::chrono::seconds k_attempt{10};
constexpr const char* k_same_secret =
    "SHARDLAB_RUN_SECRET must be the same for all ranks, or be set for none of them";

std::string meeting_at(const RankEnvironment& environment) {
  return fmt::format("no meeting point at {}:{}", environment.master_address, environment.master_port);
}

Result<Meeting> open_meeting(const RankEnvironment& environment, const fs::path& run_directory,
                             const std::optional<RunSecret>& of_user, Clock::time_point deadline) {
  Result<RunSecret> secret = of_user ? Result<RunSecret>(*of_user) : RunSecret::make();
  if (!secret) return fail(secret.error());
  const Place place = on_rank(environment.rank);
  Meeting meeting;
  auto server = MeetingServer::start(environment.master_address, environment.master_port, *secret);
  if (!server)
    return run_failed(place, fmt::format("{}: {}", meeting_at(environment), server.error().what),
                      "set MASTER_ADDR or launch.master to an address of this machine");
  meeting.server = *std::move(server);
  const int port = meeting.server->port();
  auto client = MeetingClient::come(environment.master_address, port, *secret, deadline);
  if (!client)
    return run_failed(place, fmt::format("{}: {}", meeting_at(environment), client.error().what),
                      "set MASTER_ADDR or launch.master to an address of this machine");
  meeting.client = *std::move(client);
  SHARDLAB_CHECK_OK(write_meeting_word(
      run_directory, {port, of_user ? std::optional<RunSecret>() : std::optional<RunSecret>(*secret)}));
  return meeting;
}

// Looks for the word again and again: what stands there may be an earlier run's.
class Search {
 public:
  Search(const RankEnvironment& environment, fs::path run_directory, std::optional<RunSecret> of_user,
         Clock::time_point deadline)
      : environment_(environment),
        run_directory_(std::move(run_directory)),
        of_user_(std::move(of_user)),
        deadline_(deadline) {}

  Result<Meeting> find(std::chrono::milliseconds patience) {
    for (;; std::this_thread::sleep_for(k_again)) {
      if (auto client = attempt()) return Meeting{nullptr, std::move(client)};
      if (refused_since_ && Clock::now() - *refused_since_ > k_refusals) break;
      if (Clock::now() > deadline_) break;
    }
    if (refused_since_)
      return run_failed(on_rank(environment_.rank),
                        "rank 0 has another secret of the run: " + meeting_at(environment_), k_same_secret);
    return run_failed(on_rank(environment_.rank),
                      fmt::format("{} within {} s: {}", meeting_at(environment_),
                                  static_cast<double>(patience.count()) / 1000, why_),
                      "is rank 0 running and reachable there, and is that folder the same for all ranks?");
  }

 private:
  std::shared_ptr<MeetingClient> attempt() {
    const auto word = read_meeting_word(run_directory_);
    if (!word) {
      why_ = fmt::format("rank 0 left no word in {}", run_directory_.string());
      return nullptr;
    }
    const std::optional<RunSecret>& secret = of_user_ ? of_user_ : word->secret;
    bool refused = !secret.has_value();
    if (secret) {
      auto client = MeetingClient::come(environment_.master_address, word->port, *secret,
                                        std::min(deadline_, Clock::now() + k_attempt), &refused);
      if (client) return *std::move(client);
      why_ = fmt::format("port {}: {}", word->port, client.error().what);
    }
    if (word->port != std::exchange(port_, word->port)) refused_since_.reset();
    if (refused && !refused_since_) refused_since_ = Clock::now();
    return nullptr;
  }

  const RankEnvironment& environment_;
  const fs::path run_directory_;
  const std::optional<RunSecret> of_user_;
  const Clock::time_point deadline_;
  std::optional<Clock::time_point> refused_since_;
  int port_ = 0;  // of the last word
  std::string why_;
};

}  // namespace

Result<Meeting> come_to_meeting(const RankEnvironment& environment, const fs::path& run_directory,
                                const EnvironmentVariables& variables, std::chrono::milliseconds patience) {
  SHARDLAB_TRY(std::optional<RunSecret> of_user, secret_of_user(variables));
  const Clock::time_point deadline = Clock::now() + patience;
  if (environment.rank == 0) return open_meeting(environment, run_directory, of_user, deadline);
  return Search(environment, run_directory, std::move(of_user), deadline).find(patience);
}

}  // namespace shardlab
