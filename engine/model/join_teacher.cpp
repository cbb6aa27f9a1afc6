#include "engine/model/join_teacher.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

constexpr std::uint32_t k_dropped = 0xffffffffU;

bool is_cross_entropy(const Operator& op) {
  return op.type == &k_cross_entropy || op.type == k_cross_entropy.eager_type;
}

const Operator* find_cross_entropy(const ModelGraph& graph) {
  const auto found = std::find_if(graph.operators.begin(), graph.operators.end(),
                                  [](const Operator& op) { return is_cross_entropy(op); });
  return found == graph.operators.end() ? nullptr : &*found;
}

bool is_learned_in_parts(const Operator& op) {
  return op.type == &k_token_chunked_loss;
}

const Operator* find_learned(const ModelGraph& graph) {
  const auto found = std::find_if(graph.operators.begin(), graph.operators.end(), is_learned_in_parts);
  return found == graph.operators.end() ? find_cross_entropy(graph) : &*found;
}

// What makes a tensor, where it is a plain product and nobody else reads it; null elsewhere.
const Operator* head_of(const ModelGraph& graph, TensorId logits) {
  const auto has = [logits](const std::vector<TensorId>& ids) {
    return std::find(ids.begin(), ids.end(), logits) != ids.end();
  };
  const auto readers = std::count_if(graph.operators.begin(), graph.operators.end(),
                                     [&](const Operator& op) { return has(op.inputs); });
  const auto head = std::find_if(graph.operators.begin(), graph.operators.end(),
                                 [&](const Operator& op) { return has(op.outputs); });
  if (head == graph.operators.end() || readers != 1 || head->type != &k_linear ||
      head->attributes.get_or(attribute::k_transposed, false))
    return nullptr;
  return &*head;
}

template <typename Id>
void shift(std::vector<Id>& ids, std::size_t by) {
  for (Id& id : ids) id.value += static_cast<std::uint32_t>(by);
}

class Joiner {
 public:
  Joiner(ModelGraph student, const ModelGraph& teacher, const DistillationTerms& terms)
      : student_(std::move(student)), teacher_(teacher), terms_(terms) {}

  Result<ModelGraph> join() {
    const Operator* const learned = find_learned(student_);
    const Operator* const known = find_cross_entropy(teacher_);
    if (learned == nullptr || known == nullptr) {
      return bad_input(
          "distillation",
          "the loss of this model is neither a plain cross-entropy over its logits nor one over parts "
          "of the tokens",
          "set model.loss: plain, or {kind: chunked, over: tokens}");
    }
    compared_ = known->inputs[0];
    const std::int64_t teachers_vocabulary = teacher_.tensor(compared_).shape.back();
    const bool in_parts = is_learned_in_parts(*learned);
    if (in_parts) SHARDLAB_CHECK_OK(compare_in_parts());
    SHARDLAB_CHECK_OK(check_vocabularies(in_parts ? student_.parameter(learned->parameters[0]).shape[0]
                                                  : student_.tensor(learned->inputs[0]).shape.back(),
                                         teachers_vocabulary));
    find_needed();
    tower_.family = teacher_.family;
    add_modules();
    add_parameters();
    add_tensors();
    add_operators();
    student_.loss = of_student_[student_.loss.index()];
    student_.tensors = std::move(tensors_);
    student_.operators = std::move(operators_);
    student_.teacher = tower_;
    return std::move(student_);
  }

 private:
  static Status check_vocabularies(std::int64_t student, std::int64_t teacher) {
    if (student == teacher) return {};
    return bad_input("distillation.teacher",
                     fmt::format("its vocabulary has {} entries, the student's {}", teacher, student),
                     "a divergence compares the probabilities of the same tokens: take models with one "
                     "tokenizer; where only the "
                     "padding differs, set vocab_size in the overrides of one");
  }

  // The teacher's head becomes a part of the loss.
  Status compare_in_parts() {
    teachers_head_ = head_of(teacher_, compared_);
    if (teachers_head_ == nullptr)
      return bad_input("model.loss",
                       "not supported yet for a teacher like " + teacher_.family +
                           ": chunked: its logits are changed before the loss",
                       "use plain");
    compared_ = teachers_head_->inputs[0];
    return {};
  }

  // Backwards from what the loss reads of it: its own loss and what belongs to that alone is left out.
  void find_needed() {
    operator_needed_.assign(teacher_.operators.size(), false);
    tensor_needed_.assign(teacher_.tensors.size(), false);
    tensor_needed_[compared_.index()] = true;
    for (std::size_t i = teacher_.operators.size(); i-- > 0;) {
      const Operator& op = teacher_.operators[i];
      const auto needed = [&](TensorId id) { return tensor_needed_[id.index()]; };
      if (std::none_of(op.outputs.begin(), op.outputs.end(), needed)) continue;
      operator_needed_[i] = true;
      for (const TensorId id : op.inputs) tensor_needed_[id.index()] = true;
      for (const TensorId id : op.outputs) tensor_needed_[id.index()] = true;
    }
  }

  void add_modules() {
    const std::size_t first = student_.modules.size();
    tower_.root = make_id<ModuleId>(first);
    for (Module module : teacher_.modules) {
      module.path = module.path.empty() ? std::string(k_teacher_prefix.substr(0, k_teacher_prefix.size() - 1))
                                        : std::string(k_teacher_prefix) + module.path;
      if (module.parent) module.parent->value += tower_.root.value;
      shift(module.children, first);
      shift(module.parameters, student_.parameters.size());
      student_.modules.push_back(std::move(module));
    }
  }

  void add_parameters() {
    tower_.first_parameter = make_id<ParameterId>(student_.parameters.size());
    for (Parameter parameter : teacher_.parameters) {
      parameter.name.insert(0, k_teacher_prefix);
      parameter.module.value += tower_.root.value;
      parameter.trainable = parameter.requires_grad = false;
      student_.parameters.push_back(std::move(parameter));
    }
  }

  // The batch first, then what each tower makes in its order: within a tower ids rise with the operators that
  // make them.
  void add_tensors() {
    of_student_.assign(student_.tensors.size(), TensorId{k_dropped});
    of_teacher_.assign(teacher_.tensors.size(), TensorId{k_dropped});
    for (std::size_t i = 0; i < student_.tensors.size(); ++i) {
      if (is_batch(student_.tensors[i])) of_student_[i] = append(student_.tensors[i]);
    }
    tower_.first_tensor = make_id<TensorId>(tensors_.size());
    for (std::size_t i = 0; i < teacher_.tensors.size(); ++i) {
      if (!tensor_needed_[i]) continue;
      Tensor tensor = teacher_.tensors[i];
      tensor.requires_grad = false;
      of_teacher_[i] = is_batch(tensor) ? batch_of_student(tensor.role) : append(std::move(tensor));
    }
    tower_.last_tensor = make_id<TensorId>(tensors_.size() - 1);
    tower_.logits = of_teacher_[compared_.index()];
    for (std::size_t i = 0; i < student_.tensors.size(); ++i) {
      if (!is_batch(student_.tensors[i])) of_student_[i] = append(student_.tensors[i]);
    }
  }

  static bool is_batch(const Tensor& tensor) {
    return tensor.role == TensorRole::tokens || tensor.role == TensorRole::targets;
  }

  TensorId append(Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    return make_id<TensorId>(tensors_.size() - 1);
  }

  TensorId batch_of_student(TensorRole role) const {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [&](const Tensor& tensor) { return tensor.role == role; });
    return make_id<TensorId>(static_cast<std::size_t>(found - tensors_.begin()));
  }

  void add_operators() {
    for (std::size_t i = 0; i < teacher_.operators.size(); ++i) {
      if (!operator_needed_[i]) continue;
      Operator op = teacher_.operators[i];
      op.module.value += tower_.root.value;
      shift(op.parameters, tower_.first_parameter.index());
      renumber(op, of_teacher_);
      operators_.push_back(std::move(op));
    }
    tower_.end = make_id<OperatorId>(operators_.size());
    for (Operator op : student_.operators) {
      renumber(op, of_student_);
      if (is_cross_entropy(op)) compare(op);
      if (is_learned_in_parts(op)) compare_chunks(op);
      operators_.push_back(std::move(op));
    }
  }

  static void renumber(Operator& op, const std::vector<TensorId>& ids) {
    for (TensorId& id : op.inputs) id = ids[id.index()];
    for (TensorId& id : op.outputs) id = ids[id.index()];
  }

  void compare(Operator& op) const {
    op.type = op.type == &k_cross_entropy ? &k_distillation_loss : k_distillation_loss.eager_type;
    op.inputs = {op.inputs[0], op.inputs[1], tower_.logits};
    op.attributes = {{attribute::k_temperature, terms_.temperature}, {attribute::k_weight, terms_.weight}};
  }

  void compare_chunks(Operator& op) const {
    op.type = &k_chunked_distillation;
    op.inputs.push_back(tower_.logits);
    std::vector<ParameterId> heads = teachers_head_->parameters;
    shift(heads, tower_.first_parameter.index());
    op.parameters.insert(op.parameters.end(), heads.begin(), heads.end());
    op.attributes.set(attribute::k_temperature, terms_.temperature);
    op.attributes.set(attribute::k_weight, terms_.weight);
  }

  ModelGraph student_;
  const ModelGraph& teacher_;
  const DistillationTerms terms_;
  TensorId compared_;                        // of teacher_: its logits, or what its head makes them of
  const Operator* teachers_head_ = nullptr;  // where the loss has it
  TeacherTower tower_;
  std::vector<bool> operator_needed_, tensor_needed_;  // of teacher_
  std::vector<TensorId> of_student_, of_teacher_;      // new ids, by old ones
  std::vector<Tensor> tensors_;
  std::vector<Operator> operators_;
};

template <typename T>
std::vector<T> part(const std::vector<T>& all, std::size_t begin, std::size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

Result<ModelGraph> join_teacher(ModelGraph student, const ModelGraph& teacher,
                                const DistillationTerms& terms) {
  return Joiner(std::move(student), teacher, terms).join();
}

ModelGraph parameters_of_student(const ModelGraph& joined) {
  ModelGraph graph;
  graph.family = joined.family;
  graph.modules =
      part(joined.modules, 0, joined.teacher ? joined.teacher->root.index() : joined.modules.size());
  graph.parameters =
      part(joined.parameters, 0,
           joined.teacher ? joined.teacher->first_parameter.index() : joined.parameters.size());
  return graph;
}

ModelGraph parameters_of_teacher(const ModelGraph& joined) {
  const TeacherTower& tower = *joined.teacher;
  ModelGraph graph;
  graph.family = tower.family;
  graph.modules = part(joined.modules, tower.root.index(), joined.modules.size());
  graph.parameters = part(joined.parameters, tower.first_parameter.index(), joined.parameters.size());
  for (Module& module : graph.modules) {
    module.path.erase(0, std::min(module.path.size(), k_teacher_prefix.size()));
    if (module.parent) module.parent->value -= tower.root.value;
    for (ModuleId& id : module.children) id.value -= tower.root.value;
    for (ParameterId& id : module.parameters) id.value -= tower.first_parameter.value;
  }
  for (Parameter& parameter : graph.parameters) {
    parameter.name.erase(0, k_teacher_prefix.size());
    parameter.module.value -= tower.root.value;
  }
  return graph;
}

}  // namespace shardlab
