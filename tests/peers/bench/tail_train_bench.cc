// The Topwork side of tail_train_peers.py.
//
//   topwork_tail_train_bench describe MODEL LAYERS all|bias CLASSES FILE
//       the last layers as JSON; their parameters, then frozen floats, go to FILE
//   topwork_tail_train_bench train MODEL LAYERS all|bias THREADS FILE [LIMIT]
//       seconds and final loss of the steps in FILE, segments, bytes of activations and working
//       memory; LIMIT bounds the latter (TrainerOptions::memory_limit_bytes)
// FILE of `train` is that of steps_file.h, its examples the rows at the cut. Plain SGD from the
// shipped layers and a head of zeros. One untimed step comes first.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ports/port.h"
#include "runtime/train/fit/optimizer.h"
#include "runtime/train/head/tail_network.h"
#include "tests/peers/steps_file.h"

namespace topwork {
namespace {

using Problem = peers::StepsFile;

struct Layers {
  std::shared_ptr<const Model> model;
  Head head;
  Tail tail;
};

Result<Layers> Open(char** argv) {
  Layers layers;
  TW_ASSIGN_OR_RETURN(layers.model, Model::OpenFile(argv[2]));
  const Graph& graph = layers.model->main();
  TW_ASSIGN_OR_RETURN(layers.head, FindHead(graph, 0));
  const bool bias = std::strcmp(argv[4], "bias") == 0;
  TW_ASSIGN_OR_RETURN(layers.tail, FindTail(graph, layers.head, std::atoi(argv[3]),
                                            bias ? Trained::kBiasAndScale : Trained::kAll));
  return layers;
}

std::string ListOf(const Shape& shape) {
  std::string text;
  for (int i = 0; i < shape.rank(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return "[" + text + "]";
}

void PrintValue(const TailValue& value, int64_t offset) {
  const char* const kinds[] = {"activation", "parameter", "constant"};
  std::string integers;
  for (int32_t i : value.integers) integers += (integers.empty() ? "" : ", ") + std::to_string(i);
  std::printf(
      "{\"kind\": \"%s\", \"shape\": %s, \"storage\": %d, \"parameter\": %d, "
      "\"offset\": %lld, \"integers\": [%s]}",
      kinds[value.kind], ListOf(value.shape).c_str(), value.storage, value.parameter,
      static_cast<long long>(offset), integers.c_str());
}

void PrintNode(const TailNode& node) {
  std::string inputs;
  for (int v : node.op.inputs) inputs += (inputs.empty() ? "" : ", ") + std::to_string(v);
  const OpParams& p = node.op.params;
  std::printf(
      "{\"op\": \"%s\", \"inputs\": [%s], \"output\": %d, \"wanted\": %u, \"same\": %d, "
      "\"stride\": [%d, %d], \"dilation\": [%d, %d], \"filter\": [%d, %d], "
      "\"activation\": %d}",
      OpCodeName(node.op.code), inputs.c_str(), node.op.outputs[0], node.wanted,
      p.padding == Padding::kSame ? 1 : 0, p.stride_h, p.stride_w, p.dilation_h, p.dilation_w,
      p.filter_h, p.filter_w, static_cast<int>(p.activation));
}

Status Describe(char** argv) {
  TW_ASSIGN_OR_RETURN(const Layers layers, Open(argv));
  const Graph& graph = layers.model->main();
  TW_ASSIGN_OR_RETURN(const TailGraph network,
                      MakeTailGraph(graph, layers.head, layers.tail, {}, std::atoi(argv[5])));
  std::vector<float> floats(static_cast<size_t>(network.n_parameters));
  TW_RETURN_IF_ERROR(ReadShippedParameters(graph, layers.head, layers.tail, network,
                                           {floats.data(), floats.size()}));
  std::printf("{\"dim\": %lld, \"cut\": %d, \"logits\": %d, \"values\": [",
              static_cast<long long>(network.dim), network.cut, network.logits);
  for (size_t i = 0; i < network.values.size(); ++i) {
    const TailValue& value = network.values[i];
    const bool trained = value.kind == TailValue::kParameter;
    if (i > 0) std::printf(", ");
    PrintValue(value, trained ? network.parameters[static_cast<size_t>(value.parameter)].offset
                              : static_cast<int64_t>(floats.size()));
    floats.insert(floats.end(), value.floats.begin(), value.floats.end());
  }
  std::printf("], \"nodes\": [");
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (i > 0) std::printf(", ");
    PrintNode(network.nodes[i]);
  }
  std::printf("]}\n");
  std::FILE* file = std::fopen(argv[6], "wb");
  if (file == nullptr) return IoError("{} cannot be written", argv[6]);
  const bool written =
      std::fwrite(floats.data(), sizeof(float), floats.size(), file) == floats.size();
  return std::fclose(file) == 0 && written ? Status::Ok() : IoError("{} was not written", argv[6]);
}

// One step of the problem; the loss before the update.
Status TakeStep(const Problem& p, int64_t step, TailNetwork* network, OptimizerState* state,
                double* out_loss) {
  std::vector<const float*> rows(static_cast<size_t>(p.batch));
  std::vector<int32_t> labels(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = static_cast<size_t>(p.rows[static_cast<size_t>(step) * rows.size() + i]);
    rows[i] = p.x.as<float>() + row * static_cast<size_t>(p.dim);
    labels[i] = p.labels[row];
  }
  BatchLoss sums;
  TW_RETURN_IF_ERROR(network->ComputeGradient(LossOptions(), rows.data(), {labels.data(), nullptr},
                                              p.batch, &sums));
  state->Update(p.learning_rate, network->gradient(), network->parameters());
  *out_loss = sums.loss_sum / sums.weight_sum;
  return Status::Ok();
}

Status Train(char** argv, size_t limit) {
  TW_ASSIGN_OR_RETURN(const Layers layers, Open(argv));
  Problem problem;
  if (!peers::ReadSteps(argv[6], &problem)) return IoError("{}: not readable, or short", argv[6]);
  ThreadPool pool(std::max(1, std::atoi(argv[5])));
  TrainerOptions options;
  options.optimizer = Optimizer::kSgd;
  options.batch_size = problem.batch;
  options.memory_limit_bytes = limit;
  TW_ASSIGN_OR_RETURN(const auto network,
                      TailNetwork::Create(layers.model->main(), layers.head, layers.tail,
                                          problem.n_classes, options, &pool));
  if (network->dim() != problem.dim) return InvalidArgument("rows of another cut");
  TW_ASSIGN_OR_RETURN(const auto state, OptimizerState::Create(options, network->layout(), &pool));
  double loss = 0.0;
  int64_t start = 0;
  for (int64_t step = 0; step < problem.n_steps; ++step) {
    if (step == 1) start = port::NowNanos();
    TW_RETURN_IF_ERROR(TakeStep(problem, step, network.get(), state.get(), &loss));
  }
  const double seconds = port::SecondsSince(start);
  const size_t held = network->bytes() - 2 * network->parameters().size() * sizeof(float);
  std::printf("%.9f %.9f %d %zu\n", seconds, loss, network->n_segments(), held);
  return Status::Ok();
}

int Main(int argc, char** argv) {
  const bool describes = argc == 7 && std::strcmp(argv[1], "describe") == 0;
  const bool trains = (argc == 7 || argc == 8) && std::strcmp(argv[1], "train") == 0;
  if (!describes && !trains) {
    std::fprintf(stderr,
                 "usage: topwork_tail_train_bench describe|train MODEL LAYERS all|bias "
                 "CLASSES|THREADS FILE [LIMIT]\n");
    return 2;
  }
  const Status status =
      describes ? Describe(argv) : Train(argv, argc == 8 ? std::strtoull(argv[7], nullptr, 10) : 0);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) { return topwork::Main(argc, argv); }
