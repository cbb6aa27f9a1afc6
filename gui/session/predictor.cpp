#include "gui/session/predictor.h"

#include <exception>
#include <utility>

#include "simulator/alternatives/alternatives.h"
#include "simulator/alternatives/memory_savings.h"

namespace shardlab::gui {
namespace {

// A defect must not end the window: what the engine throws becomes a message in it.
PredictionOutcome predict_guarded(const PredictionRequest& request) {
  try {
    return predict_text(request);
  } catch (const std::exception& exception) {
    return {request.revision, nullptr, Error{ErrorKind::internal, "prediction", exception.what(), {}}};
  }
}

}  // namespace

Predictor::Predictor(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { work(); }) {}

Predictor::~Predictor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

void Predictor::request(PredictionRequest request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(request);
  }
  changed_.notify_all();
}

std::optional<PredictionOutcome> Predictor::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcome_, std::nullopt);
}

std::optional<PredictedAlternatives> Predictor::take_alternatives() {
  const std::lock_guard lock(mutex_);
  return std::exchange(alternatives_, std::nullopt);
}

bool Predictor::busy() const {
  const std::lock_guard lock(mutex_);
  return working_ || waiting_.has_value();
}

void Predictor::explain_memory_too() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(memory_is_asked_for_, true)) return;
  }
  changed_.notify_all();
}

std::optional<PredictedMemory> Predictor::take_memory() {
  const std::lock_guard lock(mutex_);
  return std::exchange(memory_, std::nullopt);
}

bool Predictor::something_is_due() const {
  return newest_ && (!has_alternatives_ || (memory_is_asked_for_ && !has_memory_));
}

bool Predictor::idle() const {
  const std::lock_guard lock(mutex_);
  return is_idle();
}

void Predictor::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_idle(); });
}

void Predictor::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || waiting_ || something_is_due(); });
    if (stopping_) return;
    if (waiting_) {
      predict_waiting(lock);
    } else {
      look_around(lock);
    }
    changed_.notify_all();
    if (wake_) wake_();
  }
}

void Predictor::predict_waiting(std::unique_lock<std::mutex>& lock) {
  const PredictionRequest request = *std::exchange(waiting_, std::nullopt);
  working_ = true;
  lock.unlock();
  PredictionOutcome outcome = predict_guarded(request);
  lock.lock();
  working_ = false;
  if (outcome.prediction) {
    newest_ = outcome.prediction;
    has_alternatives_ = has_memory_ = false;
  }
  outcome_ = std::move(outcome);
}

void Predictor::look_around(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<const Prediction> prediction = newest_;
  const bool for_alternatives = !has_alternatives_;
  looking_around_ = true;
  lock.unlock();
  const bool finished = for_alternatives ? find_alternatives(*prediction) : find_memory(*prediction);
  lock.lock();
  looking_around_ = false;
  if (finished) (for_alternatives ? has_alternatives_ : has_memory_) = true;
}

// What is begun gives way to the next request between two predictions.
bool Predictor::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return !stopping_ && !waiting_;
}

// The prediction itself stands whatever is thrown here; what could be better is not worth a message.
bool Predictor::find_alternatives(const Prediction& prediction) {
  PredictedAlternatives found{prediction.revision, {}};
  try {
    found.alternatives = predict_alternatives(prediction.planned, prediction.summary(),
                                              prediction.calibration ? &*prediction.calibration : nullptr,
                                              [this] { return is_wanted(); })
                             .value_or(std::vector<Alternative>());
  } catch (const std::exception&) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (waiting_) return false;
  alternatives_ = std::move(found);
  return true;
}

bool Predictor::find_memory(const Prediction& prediction) {
  if (!prediction.summary().memory) return true;
  const auto tell = [&](std::vector<MemorySaving> savings, bool whole) {
    auto explained = std::make_shared<const ExplainedMemory>(
        explain_memory(prediction.planned, prediction.plan(), prediction.summary(), std::move(savings)));
    const std::lock_guard lock(mutex_);
    if (waiting_) return false;
    memory_ = PredictedMemory{prediction.revision, std::move(explained), whole};
    return true;
  };
  try {
    if (!tell({}, false)) return false;
    if (wake_) wake_();
    auto savings = predict_savings(prediction.planned, prediction.summary(),
                                   prediction.calibration ? &*prediction.calibration : nullptr,
                                   [this] { return is_wanted(); });
    return !savings || tell(*std::move(savings), true);
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace shardlab::gui
