#include "gui/session/predictor.h"

#include <exception>

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

bool Predictor::busy() const {
  const std::lock_guard lock(mutex_);
  return working_ || waiting_.has_value();
}

void Predictor::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !working_ && !waiting_; });
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
    outcome_ = std::move(outcome);
    changed_.notify_all();
    if (wake_) wake_();
  }
}

}  // namespace shardlab::gui
