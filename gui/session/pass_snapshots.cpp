#include "gui/session/pass_snapshots.h"

#include <chrono>

namespace shardlab::gui {

std::shared_ptr<const PassSnapshots::Snapshots> PassSnapshots::of(
    const std::shared_ptr<const Prediction>& prediction) {
  const bool ready =
      making_.valid() && making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (ready) made_ = making_.get();
  if (asked_ == prediction) return made_;
  if (making_.valid()) return nullptr;  // it makes those of an older plan: its end is not waited for here
  asked_ = prediction;
  made_ = nullptr;
  if (prediction == nullptr) return nullptr;
  making_ = std::async(std::launch::async, [scenario = prediction->planned.scenario] {
    Snapshots snapshots;
    const auto planned = plan_scenario(scenario, &snapshots);
    if (!planned) snapshots.clear();
    return std::make_shared<const Snapshots>(std::move(snapshots));
  });
  return nullptr;
}

void PassSnapshots::wait() {
  if (making_.valid()) making_.wait();
}

}  // namespace shardlab::gui
