// The steady plan as it stood after each pass of its construction, made on a thread when somebody asks for
// it.
#pragma once

#include <future>
#include <memory>
#include <vector>

#include "engine/planner/plan_scenario.h"
#include "gui/session/prediction.h"

namespace shardlab::gui {

class PassSnapshots {
 public:
  using Snapshots = std::vector<PassSnapshot>;

  // The snapshots of the prediction's scenario; null until they are made. Asking for another's begins anew.
  std::shared_ptr<const Snapshots> of(const std::shared_ptr<const Prediction>& prediction);
  // Waits until what is being made is made; for pictures and tests.
  void wait();

 private:
  std::shared_ptr<const Prediction> asked_;
  std::future<std::shared_ptr<const Snapshots>> making_;
  std::shared_ptr<const Snapshots> made_;
};

}  // namespace shardlab::gui
