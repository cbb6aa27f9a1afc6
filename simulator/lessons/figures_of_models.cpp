#include <array>

#include "simulator/lessons/figure_list.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

constexpr std::array k_models_figures = {
    FigureFunction{"parameters", "a", 0, 0, "of the model, a teacher's among them",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(total_parameters(subject.planned->graph)));
                   }},
    FigureFunction{"trained_parameters", "a", 0, 0, "those that the optimizer updates",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(trainable_parameters(subject.planned->graph)));
                   }},
    FigureFunction{"active_parameters", "a", 0, 0, "those that one token uses",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(active_parameters(subject.planned->graph)));
                   }},
    FigureFunction{"layer_parameters", "a", 0, 0, "of one repeated layer",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(parameters_per_layer(subject.planned->graph)));
                   }},
    FigureFunction{"layers", "a", 0, 0, "repeated layers of the model",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(subject.planned->graph.layers));
                   }},
    FigureFunction{"vocabulary", "a", 0, 0, "words that the head tells apart",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return number_value(static_cast<double>(subject.planned->graph.vocabulary));
                   }},
    FigureFunction{"micro_batch_tokens", "a", 0, 0, "tokens of a rank's micro-batch",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     const ModelGraph& graph = subject.planned->graph;
                     return number_value(static_cast<double>(graph.micro_batch * graph.sequence_length));
                   }},
};

}  // namespace

std::span<const FigureFunction> figures_of_models() {
  return k_models_figures;
}

}  // namespace shardlab::lessons
