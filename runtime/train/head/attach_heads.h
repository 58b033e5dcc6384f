// AttachHeads: heads of files as further outputs of a model in memory, for a session.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_ATTACH_HEADS_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_ATTACH_HEADS_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/head_file.h"
#include "models/format/model.h"

namespace topwork {

struct NamedHead {
  std::string name;  // of its output
  HeadData data;
};

// The model with an output for each head, float32 [examples, classes], behind its own: what the export
// of a trainer with that head gives, where the export is float32, bit for bit; the backbone runs once.
// FAILED_PRECONDITION for a head of another model (by the SHA-256 of its file) or another last layer;
// UNSUPPORTED for one that was trained with layers below the last, whose backbone is another.
Result<std::shared_ptr<const Model>> AttachHeads(std::shared_ptr<const Model> model,
                                                 const std::vector<const NamedHead*>& heads);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_ATTACH_HEADS_H_
