// The steps of ExportWithHead. Each edits the tables and trusts that CheckReplacement has passed.
//
// Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_WRITE_STEPS_H_
#define TOPWORK_MODELS_FORMAT_WRITE_STEPS_H_

#include "models/format/append.h"
#include "models/format/model_tables.h"
#include "models/format/write.h"

namespace topwork {

// INVALID_ARGUMENT or UNSUPPORTED says what does not fit the model.
Status CheckReplacement(const Model& model, const HeadReplacement& head);

// Weights, bias and options of the layer head.op, stored as `format`.
void WriteHeadParameters(const HeadReplacement& head, const HeadFormat& format,
                         ModelTables* tables);

// Shapes, types and scales from the layer to the output, and the final activation.
Status WriteTail(const HeadReplacement& head, const HeadFormat& format, ModelTables* tables);

// Puts the hidden layer, of the same operator, in front of `layer`, which reads real numbers.
void InsertHidden(const HeadReplacement& head, EditedOperator* layer, ModelTables* tables);

// Adds a new layer after the output.
void AppendHead(const HeadReplacement& head, ModelTables* tables);

// Where int8 weights would have sums that overflow (LayerSumsOverflow), their layers become float32.
Status WriteConstants(const Model& model, const HeadReplacement& head, ModelTables* tables);

// Adds the activation behind `layer`, which makes `scores`.
EditedOperator* InsertActivation(FinalActivation activation, int scores, int result,
                                 const EditedOperator* layer, ModelTables* tables);

// Whether a FULLY_CONNECTED gives its result the dimensions of its input.
bool KeepsDimensions(EditedOperator* op);

// An operator with its options and version, in front of `before` (null: at the end). Null for one
// that cannot be written (AddedOp).
EditedOperator* InsertOp(const AddedOp& op, const EditedOperator* before, ModelTables* tables);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_WRITE_STEPS_H_
