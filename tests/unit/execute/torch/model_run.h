// The programs of a model that is one segment, run step by step through the operators' implementations.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/graph_builder.h"
#include "engine/model/partition.h"
#include "tests/unit/execute/torch/place.h"

namespace shardlab::test {

at::ScalarType scalar_type(DType dtype);

// The model of tests/data/families/<name>.json.
ModelGraph family_model(const std::string& name, const GraphOptions& options);
std::vector<std::string> family_names();

// What a test watches while a program runs; all may be empty.
struct StepWatch {
  std::function<void(Bytes live)> allocated;  // a step's storages exist: so many bytes more than at the start
  std::function<void(const ProgramStep&, const std::function<void()>& run)> operate;  // calls run
  std::function<void(Bytes live)> finished;  // its storages are freed
};

class ModelRun {
 public:
  // Parameters are small random numbers until they are set; the batch is random tokens.
  ModelRun(const ModelGraph& graph, const Segment& segment, const Place& place = {});

  void set_parameter(const std::string& name, const at::Tensor& value);
  void set_batch(const at::Tensor& tokens, const at::Tensor& targets);

  void forward(const StepWatch& watch = {}) { run(segment_.programs.forward, true, watch); }
  void backward(const StepWatch& watch = {}) { run(segment_.programs.backward, false, watch); }

  const at::Tensor& loss() const { return tensors_.at(graph_.loss.value); }
  // A copy of the last tensor of this label that forward made.
  const at::Tensor& made(const std::string& label) const { return made_.at(label); }
  void copy_tensors_of(const std::string& label) { made_.try_emplace(label); }
  const std::vector<ParameterGradient>& gradients() const { return gradients_; }  // by ParameterId

 private:
  at::Tensor input_value(const Tensor& tensor) const;
  void run(const Program& program, bool forward, const StepWatch& watch);
  at::Tensor existing(const ProgramValue& value) const;
  void allocate(const Program& program, const ProgramStep& step, std::vector<at::Tensor>& values) const;
  void keep(const Program& program, const ProgramStep& step, const std::vector<at::Tensor>& values,
            bool forward);
  bool later_use(ParameterId parameter, OperatorId op) const;
  void run_step(const Program& program, const ProgramStep& step, std::vector<at::Tensor>& values) const;

  const ModelGraph& graph_;
  const Segment& segment_;
  const Place place_;
  std::vector<at::Tensor> parameters_, saved_;
  std::vector<ParameterGradient> gradients_;
  std::map<std::uint32_t, at::Tensor> tensors_;
  std::map<std::string, at::Tensor> made_;
};

}  // namespace shardlab::test
