// The words of a run's plan, made when somebody first asks for them and then kept.
#pragma once

#include <memory>
#include <mutex>

#include "engine/report/words/plan_words.h"

namespace shardlab::view {

// A member of what holds the plan. A copy, and what is moved elsewhere, makes its own: words speak of the
// plan where it lies. Asking is allowed from any thread.
class OwnWords {
 public:
  OwnWords() = default;
  OwnWords(const OwnWords&) noexcept {}
  OwnWords& operator=(const OwnWords&) noexcept {
    words_.reset();
    return *this;
  }
  ~OwnWords() = default;

  // Always of the same plan, which must outlive this.
  const PlanWords& of(const StepPlan& plan) const {
    const std::lock_guard lock(mutex_);
    if (!words_) words_ = std::make_unique<const PlanWords>(plan);
    return *words_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const PlanWords> words_;
};

}  // namespace shardlab::view
