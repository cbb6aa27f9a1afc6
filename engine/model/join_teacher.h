// A student and its teacher as one graph.
//
// Two towers over the same tokens: the teacher's operators, none of which requires a gradient, then the
// student's, whose loss compares the two logits. So a frozen teacher is what any frozen part of a model is:
// no program of it has a backward, none keeps anything, and what is alive of it when the student begins are
// its logits, or, under a loss over parts of the tokens, what its head makes them of.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

struct DistillationTerms {
  double temperature = 1;
  double weight = 1;  // of the divergence
};

// What every name of the teacher begins with.
inline constexpr std::string_view k_teacher_prefix = "teacher.";

// Both graphs are those of one micro-batch of the same shape. Of the teacher what makes the logits remains;
// its modules and parameters are named with the prefix and frozen. The student's cross-entropy becomes a
// distillation_loss, its token_chunked_loss a chunked_distillation, which has the teacher's head too.
// ModuleId and ParameterId of the student stay, the teacher's follow them. bad_input: vocabularies differ; a
// student with another loss; a teacher that changes its logits, beside a loss in parts.
Result<ModelGraph> join_teacher(ModelGraph student, const ModelGraph& teacher,
                                const DistillationTerms& terms);

// The id in the joined graph of a module of the teacher's own graph.
inline ModuleId joined_module(const ModelGraph& joined, ModuleId own) {
  return ModuleId{joined.teacher->root.value + own.value};
}

// Modules and parameters (no operators, no tensors) of one of the two, with the names that its checkpoint
// has.
ModelGraph parameters_of_student(const ModelGraph& joined);
ModelGraph parameters_of_teacher(const ModelGraph& joined);

}  // namespace shardlab
