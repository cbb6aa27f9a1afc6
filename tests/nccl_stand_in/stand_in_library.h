// The library in NCCL's place, loaded as NCCL would be, and ranks that are threads of the test.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/nccl/nccl_handle.h"
#include "tests/catch.h"
#include "tests/nccl_stand_in/stand_in.h"
#include "tests/paths.h"

namespace shardlab::test {

struct StandIn {
  const NcclLibrary* nccl = nullptr;
  decltype(&standInViolation) violation = nullptr;
  decltype(&standInForget) forget = nullptr;
  decltype(&standInSynchronize) synchronize = nullptr;
  decltype(&standInIsDone) is_done = nullptr;
  decltype(&standInSetError) set_error = nullptr;
  decltype(&standInHold) hold = nullptr;
};

inline std::string stand_in_path() {
  return (programs_folder().parent_path() / "nccl_stand_in/libnccl_stand_in.so").string();
}

// Throws when it is not there.
inline StandIn load_stand_in() {
  const auto nccl = load_nccl(stand_in_path());
  if (!nccl) throw std::runtime_error(to_string(nccl.error()));
  void* library = ::dlopen(stand_in_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  StandIn found{*nccl};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
  };
  find(found.violation, "standInViolation");
  find(found.forget, "standInForget");
  find(found.synchronize, "standInSynchronize");
  find(found.is_done, "standInIsDone");
  find(found.set_error, "standInSetError");
  find(found.hold, "standInHold");
  return found;
}

inline nccl::UniqueId new_id(const StandIn& stand_in) {
  nccl::UniqueId id;
  if (stand_in.nccl->get_unique_id(&id) != nccl::Outcome::success) throw std::runtime_error("no id");
  return id;
}

// A stream of a rank's own.
inline nccl::Stream stream_of(int rank) {
  static char names[64];
  return &names[rank];
}

inline NcclPatience hasty() {
  return {std::chrono::milliseconds(20'000), std::chrono::milliseconds(200)};
}

// Calls body(rank, handle) in one thread a rank, each with its member of one communicator; what a body throws
// fails the test.
inline void run_members(const StandIn& stand_in, int ranks,
                        const std::function<void(int, const std::shared_ptr<NcclHandle>&)>& body) {
  const nccl::UniqueId id = new_id(stand_in);
  std::vector<std::string> failures(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const NcclMember member{"test", rank, ranks, id};
        const auto handle = NcclHandle::connect(*stand_in.nccl, member, hasty(), {});
        if (!handle) throw std::runtime_error(to_string(handle.error()));
        body(rank, *handle);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

}  // namespace shardlab::test
