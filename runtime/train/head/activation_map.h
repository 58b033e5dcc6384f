// Class activation maps: which positions of an image speak for each class.
//
// Where a head reads the mean of a map, its scores are means, too:
//   score[c] = Σ_d W[c, d] · mean_p M[p, d] + b[c] = mean_p (Σ_d W[c, d] · M[p, d] + b[c]).
// The number in the last brackets is position p's part of the score: no approximation (Zhou et al.,
// Learning Deep Features for Discriminative Localization, 2016).
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_ACTIVATION_MAP_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_ACTIVATION_MAP_H_

#include <cstdint>
#include <vector>

#include "models/format/model.h"
#include "runtime/base/status.h"

namespace topwork {

// Name of the output that ExportWithActivationMap adds.
inline constexpr char kActivationMapName[] = "class_activation_map";

// The model with one more output: float32 [batch, rows, columns, classes], whose mean over rows and
// columns is the score of each class in front of output `output`, before softmax or logistic.
// UNSUPPORTED when the head does not read the mean of a map (the text says what it reads).
Result<std::vector<uint8_t>> ExportWithActivationMap(const Model& model, int output);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_ACTIVATION_MAP_H_
