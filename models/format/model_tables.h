// ModelTables: a model's tables, edited, and written as a new file.
//
// What is not edited is copied once, from the old file into the new one. An operator is named by
// its position in the old file, whatever is added or removed; a tensor by its index, and new tensors
// come after the old. Private to the writer.
#ifndef TOPWORK_MODELS_FORMAT_MODEL_TABLES_H_
#define TOPWORK_MODELS_FORMAT_MODEL_TABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/edited_table.h"
#include "models/format/head_format.h"
#include "models/format/metadata_write.h"
#include "models/format/model.h"

namespace topwork {

namespace schema {
struct Model;
}  // namespace schema

// The fields that edits are about; all others are those of `table`.
struct EditedOperator {
  EditedTable table{kOperator};
  uint32_t opcode_index = 0;
  std::vector<int32_t> inputs, outputs, intermediates;

  // Of BuiltinOptions; null where the operator has none of that layout.
  EditedTable* Options(TableLayout layout);
  EditedTable* NewOptions(TableLayout layout);
  void ClearOptions();
};

struct EditedTensor {
  EditedTable table{kTensor};
  std::string name;
  DType type = DType::kFloat32;
  std::vector<int32_t> shape, shape_signature;
  uint32_t buffer = 0;

  EditedTable* quantization();  // null: none
  void ClearQuantization();
  bool is_variable() const;
  bool is_sparse() const;
};

struct EditedSubgraph {
  EditedTable table{kSubGraph};
  std::vector<std::unique_ptr<EditedTensor>> tensors;
  std::vector<std::unique_ptr<EditedOperator>> operators;
  std::vector<int32_t> inputs, outputs;
};

struct EditedSignature {
  struct Entry {
    std::string name;
    uint32_t tensor_index = 0;
  };
  EditedTable table{kSignatureDef};
  uint32_t subgraph_index = 0;
  std::vector<Entry> inputs, outputs;
};

// The version of DEQUANTIZE that reads the type.
int DequantizeVersion(DType input);

class ModelTables {
 public:
  explicit ModelTables(const Model& model);
  ~ModelTables();

  EditedSubgraph* main() { return main_; }
  uint32_t main_index() const { return main_index_; }
  std::vector<EditedSignature>& signatures() { return signatures_; }
  int n_tensors() const;
  EditedOperator* op(int file_index) { return ops_[static_cast<size_t>(file_index)]; }
  EditedTensor* tensor(int i) const;
  OpCode CodeOf(const EditedOperator& op) const;
  bool IsConv(const EditedOperator& op) const { return CodeOf(op) == OpCode::kConv2d; }
  int VersionOf(const EditedOperator& op) const;
  DType TypeOf(int tensor) const;
  // Contents of a constant of the main subgraph; empty for what is computed.
  Span<const uint8_t> Data(int tensor) const;
  // The operator of the main subgraph that computes the tensor; null when none does.
  EditedOperator* ProducerOf(int tensor) const;
  // How often operators read the tensor, or the subgraph names it as input or output.
  int64_t CountUses(int tensor) const;

  // A tensor without data; returns its index. A name that is taken gets a number.
  int AddTensor(const std::string& name, DType dtype, const std::vector<int32_t>& shape);
  int CopyTensor(int tensor);
  // Index of a tensor that only input `input` of `op` uses: the one there now or a copy of it.
  int OwnInput(EditedOperator* op, size_t input);
  // Makes the tensor this constant; its old contents, type and quantization go.
  void SetConstant(int tensor, const std::vector<int32_t>& shape, const StoredConstant& stored);
  void SetScale(int tensor, Affine affine);

  void SetCode(EditedOperator* op, OpCode code, int version);
  // Inserts before `before` (null: at the end).
  EditedOperator* InsertOp(OpCode code, int version, const std::vector<int32_t>& inputs,
                           const std::vector<int32_t>& outputs, const EditedOperator* before);
  EditedOperator* InsertOpBehind(OpCode code, int version, const std::vector<int32_t>& inputs,
                                 const std::vector<int32_t>& outputs, const EditedOperator* after);
  // A DEQUANTIZE into float32, a QUANTIZE into any other type.
  EditedOperator* InsertConversion(int from, int to, const EditedOperator* before);
  EditedOperator* InsertConversionBehind(int from, int to, const EditedOperator* after);
  void RemoveOp(const EditedOperator* op);
  // Removes the operator, and those before it whose results nobody else reads.
  void RemoveWithInputs(const EditedOperator* op);

  // What the model carries besides its graph.
  ModelNotes Notes() const;
  void SetNotes(ModelNotes notes);
  // The new model has neither.
  void DropNotes();

  // The new file. Tensors and buffers that were used and no longer are, are left out.
  Result<std::vector<uint8_t>> Pack();

 private:
  EditedOperator* InsertConversionAt(size_t position, int from, int to);
  EditedOperator* InsertAt(size_t position, OpCode code, int version,
                           const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  size_t PositionOf(const EditedOperator* op) const;
  uint32_t NewBuffer(const void* data, size_t bytes);
  std::vector<uint8_t> UsedTensors() const;
  void RemoveUnusedTensors();
  void CompactBuffers();
  void FinishTables();

  const Model& source_;
  const schema::Model* root_ = nullptr;
  EditedTable model_{kModel};
  std::vector<EditedTable> codes_, metadata_;
  std::vector<EditedSubgraph> subgraphs_;
  std::vector<EditedSignature> signatures_;
  EditedSubgraph* main_ = nullptr;
  uint32_t main_index_ = 0;
  std::vector<EditedOperator*> ops_;  // of the main subgraph as it was read
  bool ops_moved_ = false;
  // Contents of all buffers: the old file's, then those of new_buffers_.
  std::vector<Span<const uint8_t>> buffers_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> new_buffers_;
  std::vector<int32_t> metadata_buffer_;
  std::vector<AssociatedFile> files_;
  std::vector<uint8_t> used_before_;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_MODEL_TABLES_H_
