// Small classifiers with the tails found in real models, for the tests of head discovery, training
// and export. Input 'image' [1, 4, 4, 3]; a 3×3 convolution with RELU to 8 channels; then the tail.
#ifndef TOPWORK_TESTS_SUPPORT_CLASSIFIERS_H_
#define TOPWORK_TESTS_SUPPORT_CLASSIFIERS_H_

#include <memory>
#include <string>

#include "models/format/model.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {

enum class Tail {
  kDense,            // MEAN, FULLY_CONNECTED, SOFTMAX
  kDenseNoBias,      // the same without a bias
  kDenseLogits,      // the same without SOFTMAX
  kDenseLogistic,    // LOGISTIC for SOFTMAX
  kDenseHalf,        // weights and bias in float16, through DEQUANTIZE
  kDenseInt8,        // int8 weights per channel, float32 activations
  kDenseInt2,        // the same with packed weights of int2
  kDenseShared,      // weights and bias that another operator reads, too
  kConvReshape,      // AVERAGE_POOL_2D, 1×1 CONV_2D, RESHAPE, SOFTMAX
  kConvSqueeze,      // AVERAGE_POOL_2D, 1×1 CONV_2D, SQUEEZE, SOFTMAX
  kConvPoolReshape,  // 1×1 CONV_2D, AVERAGE_POOL_2D, RESHAPE, SOFTMAX
  kConvMean,         // 1×1 CONV_2D, MEAN, LOG_SOFTMAX
};
constexpr Tail kAllTails[] = {Tail::kDense,         Tail::kDenseNoBias,     Tail::kDenseLogits,
                              Tail::kDenseLogistic, Tail::kDenseHalf,       Tail::kDenseInt8,
                              Tail::kDenseInt2,     Tail::kDenseShared,     Tail::kConvReshape,
                              Tail::kConvSqueeze,   Tail::kConvPoolReshape, Tail::kConvMean};

const char* TailName(Tail tail);

// The model with its output 'scores' [1, 5], signature "serve" and labels a, b, c, d, e.
ModelSpec ClassifierSpec(Tail tail);
Bytes ClassifierBytes(Tail tail);

// Opens a copy; fails the running test when the bytes are refused.
std::shared_ptr<const Model> OpenBytes(const Bytes& bytes);

// Runs the model on inputs [n, example] (float32) one example after the other; output 0 of each.
std::vector<float> RunModel(const std::shared_ptr<const Model>& model,
                            const std::vector<float>& inputs);

constexpr size_t kImageFloats = 4 * 4 * 3;  // of one example

// n examples of ClassifierSpec's input whose class shows: noise around one pattern a class.
void MakeImages(int n, int n_classes, uint64_t seed, std::vector<float>* images,
                std::vector<int32_t>* labels);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_CLASSIFIERS_H_
