// What a .tflite says of itself: class names (a label list in the appended archive, and the
// TFLITE_METADATA entry that says which output it belongs to) and how inputs are normalised.
#ifndef TOPWORK_MODELS_FORMAT_METADATA_WRITE_H_
#define TOPWORK_MODELS_FORMAT_METADATA_WRITE_H_

#include <string>
#include <vector>

#include "models/format/model.h"

namespace topwork {

struct LabelledOutput {
  int output = 0;     // position among the main subgraph's outputs
  int n_inputs = 0;   // of the main subgraph
  int n_outputs = 0;  // of the main subgraph
  // One name a class; empty: the output's old label list is removed and none takes its place.
  std::vector<std::string> class_names;
};

// What a model carries besides its graph.
struct ModelNotes {
  std::vector<uint8_t> metadata;      // content of the TFLITE_METADATA entry; empty: none
  std::vector<AssociatedFile> files;  // of the appended archive
};

// Replaces the output's label list in `notes` (which may be empty), and removes the score
// calibration of that output. Everything else stays. INVALID_ARGUMENT names a class name that a
// label list cannot hold.
Status ReplaceLabels(const LabelledOutput& labels, ModelNotes* notes);

// Says that inputs are made as (value − mean) / std. It belongs to the input that had a
// normalisation, else to the first. INVALID_ARGUMENT when means and deviations differ in number, or
// a deviation is 0.
Status ReplaceNormalization(const Normalization& normalization, int n_inputs, ModelNotes* notes);

// The outputs at the positions `removed` go, and `names` come after the n_kept others. Only where there
// is metadata; a list of outputs that is too short is filled up.
void ListOutputs(const std::vector<int>& removed, int n_kept, const std::vector<std::string>& names,
                 ModelNotes* notes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_METADATA_WRITE_H_
