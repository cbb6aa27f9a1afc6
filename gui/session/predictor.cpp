#include "gui/session/predictor.h"

#include <exception>

#include "simulator/alternatives/alternatives.h"

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

void Predictor::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !working_ && !looking_around_ && !waiting_; });
}

void Predictor::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || waiting_; });
    if (stopping_) return;
    const PredictionRequest request = *std::exchange(waiting_, std::nullopt);
    working_ = true;
    lock.unlock();
    PredictionOutcome outcome = predict_guarded(request);
    lock.lock();
    working_ = false;
    const std::shared_ptr<const Prediction> prediction = outcome.prediction;
    outcome_ = std::move(outcome);
    looking_around_ = prediction != nullptr && !waiting_ && !stopping_;
    changed_.notify_all();
    if (wake_) wake_();
    if (!looking_around_) continue;
    lock.unlock();
    find_alternatives(*prediction);
    lock.lock();
    looking_around_ = false;
    changed_.notify_all();
    if (wake_) wake_();
  }
}

// Gives way to the next request between two predictions.
void Predictor::find_alternatives(const Prediction& prediction) {
  const auto is_wanted = [this] {
    const std::lock_guard lock(mutex_);
    return !stopping_ && !waiting_;
  };
  PredictedAlternatives found{prediction.revision, {}};
  try {
    found.alternatives =
        predict_alternatives(prediction.planned, prediction.summary(),
                             prediction.calibration ? &*prediction.calibration : nullptr, is_wanted);
  } catch (const std::exception&) {
    return;  // the prediction itself stands; what could be better is not worth a message
  }
  const std::lock_guard lock(mutex_);
  if (!waiting_) alternatives_ = std::move(found);
}

}  // namespace shardlab::gui
