#include "engine/execute/torch/communication/rendezvous.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "engine/execute/machine.h"
#include "engine/execute/torch/communication/gloo_transport.h"
#include "engine/execute/torch/step_failure.h"
#include "engine/plan/group_ranks.h"

namespace shardlab {

struct Rendezvous::State {
  c10::intrusive_ptr<c10d::Store> store;
  GlooOptions gloo;
};

namespace {

std::string arrival_key(int rank) {
  return fmt::format("shardlab/arrived/{}", rank);
}

std::vector<int> missing_ranks(c10d::Store& store, int world) {
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    if (!store.check({arrival_key(rank)})) missing.push_back(rank);
  }
  return missing;
}

Error missing_error(const RankEnvironment& environment, std::chrono::milliseconds timeout,
                    const std::vector<int>& missing) {
  return {
      ErrorKind::run_failed, on_rank(environment.rank),
      fmt::format("{} {} of {} did not arrive within {} s", missing.size() == 1 ? "rank" : "ranks",
                  fmt::join(missing, ", "), environment.world, static_cast<double>(timeout.count()) / 1000),
      "start all ranks with the same MASTER_ADDR and MASTER_PORT, or raise launch.timeout"};
}

Status wait_for_all(c10d::Store& store, const RankEnvironment& environment,
                    std::chrono::milliseconds timeout) {
  store.set(arrival_key(environment.rank), std::vector<std::uint8_t>{1});
  std::vector<std::string> keys;
  for (int rank = 0; rank < environment.world; ++rank) keys.push_back(arrival_key(rank));
  try {
    store.wait(keys, timeout);
  } catch (const std::exception&) {
    const std::vector<int> missing = missing_ranks(store, environment.world);
    if (missing.empty()) throw;
    return fail(missing_error(environment, timeout, missing));
  }
  return {};
}

// A socket for a store that is of this machine alone. TCPStore's own listens on all interfaces and asks
// nobody who they are: other machines could read and change what the ranks tell each other. Nothing where the
// ranks meet at another address, or where the socket cannot be had: then TCPStore says why.
std::optional<int> loopback_listener(const RankEnvironment& environment) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(environment.master_port));
  if (::inet_pton(AF_INET, environment.master_address.c_str(), &address.sin_addr) != 1) return std::nullopt;
  if ((ntohl(address.sin_addr.s_addr) >> 24) != 127) return std::nullopt;
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return std::nullopt;
  const int reuse = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(descriptor, SOMAXCONN) == 0)
    return descriptor;
  ::close(descriptor);
  return std::nullopt;
}

}  // namespace

Rendezvous::Rendezvous(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Rendezvous::~Rendezvous() = default;
Rendezvous::Rendezvous(const Rendezvous&) = default;
Rendezvous::Rendezvous(Rendezvous&&) noexcept = default;
Rendezvous& Rendezvous::operator=(Rendezvous&&) noexcept = default;

Result<Rendezvous> Rendezvous::connect(const RankEnvironment& environment, const RendezvousOptions& options) {
  const std::string place = fmt::format("{}:{}", environment.master_address, environment.master_port);
  try {
    c10d::TCPStoreOptions tcp;
    tcp.port = static_cast<std::uint16_t>(environment.master_port);
    tcp.isServer = environment.rank == 0;
    tcp.numWorkers = static_cast<std::size_t>(environment.world);
    tcp.waitWorkers = false;  // wait_for_all names who is missing
    tcp.timeout = options.arrival_timeout;
    if (tcp.isServer) tcp.masterListenFd = loopback_listener(environment);
    auto state = std::make_shared<State>();
    state->store = c10::make_intrusive<c10d::PrefixStore>(
        options.meeting, c10::make_intrusive<c10d::TCPStore>(environment.master_address, tcp));
    SHARDLAB_CHECK_OK(wait_for_all(*state->store, environment, options.arrival_timeout));
    state->gloo = {options.operation_timeout, options.interface,
                   own_address_towards(environment.master_address, environment.master_port)};
    return Rendezvous(std::move(state));
  } catch (const std::exception& error) {
    return run_failed(on_rank(environment.rank),
                      fmt::format("no meeting point at {}: {}", place, first_line(error.what())),
                      environment.rank == 0 ? "is the port in use? set MASTER_PORT or launch.master"
                                            : "is rank 0 running and reachable there?");
  }
}

Rendezvous Rendezvous::in_process(const RendezvousOptions& options) {
  auto state = std::make_shared<State>();
  state->store = c10::make_intrusive<c10d::HashStore>();
  state->gloo = {options.operation_timeout, options.interface, "127.0.0.1"};
  return Rendezvous(std::move(state));
}

Result<std::shared_ptr<Communicator>> Rendezvous::communicator(const std::string& name,
                                                               const std::vector<int>& ranks,
                                                               int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end())
    return internal_error("rendezvous", fmt::format("rank {} is not in the group {}", rank, name));
  try {
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("{}@{}", name, ranks.front()), state_->store);
    return make_communicator(make_gloo_transport(store, static_cast<int>(found - ranks.begin()),
                                                 static_cast<int>(ranks.size()), state_->gloo));
  } catch (const std::exception& error) {
    return run_failed(on_rank(rank, fmt::format("group {}", name)),
                      fmt::format("cannot connect: {}", first_line(error.what())),
                      "set launch.interface to the network interface that the ranks share");
  }
}

KeyValueStore Rendezvous::store() const {
  return KeyValueStore(c10::make_intrusive<c10d::PrefixStore>("values", state_->store));
}

std::vector<RankGroup> groups_of(const PlannedScenario& planned, int rank) {
  std::vector<RankGroup> groups;
  std::set<RankSet> seen;
  for (const StepPlan* plan : planned.plan.all()) {
    for (const Group& group : plan->groups) {
      if (group.size == 1 || !seen.insert(group.ranks).second) continue;
      groups.push_back({group.ranks, ranks_of_group(group, planned.scenario, rank)});
    }
  }
  return groups;
}

Result<Communicators> connect_groups(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups,
                                     int rank) {
  Communicators communicators;
  for (const RankGroup& group : groups) {
    SHARDLAB_TRY(communicators[group.set], rendezvous.communicator(to_text(group.set), group.ranks, rank));
  }
  return communicators;
}

}  // namespace shardlab
