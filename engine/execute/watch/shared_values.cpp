#include "engine/execute/watch/shared_values.h"

#include <thread>

#include <fmt/format.h>

namespace shardlab {

Result<std::string> wait_unless_failed(SharedValues& values, const std::string& key,
                                       std::chrono::milliseconds timeout,
                                       const std::function<std::optional<std::string>()>& failure) {
  constexpr std::chrono::milliseconds k_look{20}, k_answer{5'000};
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    SHARDLAB_TRY(const bool there, values.has(key));
    if (there) return values.wait(key, k_answer);
    if (const auto reason = failure()) return run_failed("the meeting point", *reason);
    if (std::chrono::steady_clock::now() > end) {
      return run_failed("the meeting point", fmt::format("nobody set {} within {} s", key,
                                                         static_cast<double>(timeout.count()) / 1000));
    }
    std::this_thread::sleep_for(k_look);
  }
}

}  // namespace shardlab
