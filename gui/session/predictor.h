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
  // From now on the memory of every prediction is explained, the newest one's too: for whoever shows it, as
  // it takes a prediction for every setting that is tried. First without those settings, then with them.
  void explain_memory_too();
  std::optional<PredictedMemory> take_memory();
  bool busy() const;
  // Whether nothing is under way nor waiting, what follows a prediction included.
  bool idle() const;
  // Waits for that; for pictures and tests.
  void wait_until_idle();

 private:
  void work();
  // Both with the lock held, which they give up meanwhile.
  void predict_waiting(std::unique_lock<std::mutex>& lock);
  void look_around(std::unique_lock<std::mutex>& lock);
  // Whether it was finished.
  bool find_alternatives(const Prediction& prediction);
  bool find_memory(const Prediction& prediction);
  bool something_is_due() const;
  bool is_idle() const { return !working_ && !looking_around_ && !waiting_ && !something_is_due(); }
  bool is_wanted() const;

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<PredictionRequest> waiting_;
  std::optional<PredictionOutcome> outcome_;
  std::optional<PredictedAlternatives> alternatives_;
  std::optional<PredictedMemory> memory_;
  std::shared_ptr<const Prediction> newest_;
  bool has_alternatives_ = false, has_memory_ = false;  // of the newest
  bool memory_is_asked_for_ = false;
  bool working_ = false;
  bool looking_around_ = false;  // for alternatives
  bool stopping_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace shardlab::gui
