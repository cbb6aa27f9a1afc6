// A thread that predicts: the newest request replaces those that wait, so that a window which asks on every
// keystroke is never behind by more than one.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "gui/session/prediction.h"

namespace shardlab::gui {

class Predictor {
 public:
  // `wake` is called on the predictor's thread after each outcome; may be empty.
  explicit Predictor(std::function<void()> wake = {});
  // Waits for the request under way.
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  void request(PredictionRequest request);
  // The newest outcome since the last call.
  std::optional<PredictionOutcome> take();
  // What single keys would change, found after the outcome of the same revision unless another request came.
  std::optional<PredictedAlternatives> take_alternatives();
  bool busy() const;
  // Waits until nothing is under way or waiting; for pictures and tests.
  void wait_until_idle();

 private:
  void work();
  void find_alternatives(const Prediction& prediction);

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<PredictionRequest> waiting_;
  std::optional<PredictionOutcome> outcome_;
  std::optional<PredictedAlternatives> alternatives_;
  bool working_ = false;
  bool looking_around_ = false;  // for alternatives
  bool stopping_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace shardlab::gui
