// Malformed models: every one is refused when it is opened, with a message that names the place.
#include <catch2/catch.hpp>
#include <limits>

#include "models/format/model.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {
namespace {

struct Malformed {
  const char* what;
  StatusCode code;
  const char* message;  // a distinctive part
  void (*damage)(ModelSpec* spec);
};

constexpr StatusCode kBad = StatusCode::kInvalidModel;
constexpr StatusCode kNo = StatusCode::kUnsupported;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorSpec& Tensor(ModelSpec* m, size_t i) { return m->main().tensors[i]; }
OpSpec& Operator(ModelSpec* m, size_t i) { return m->main().ops[i]; }

// Of ImageSpec: tensors 0 image, 1 filter, 2 bias, 3 conv, 4 pool, 5 weights, 6 dense, 7 output.
const Malformed kImageCases[] = {
    {"schema version 2", kBad, "schema version is 2", [](ModelSpec* m) { m->version = 2; }},
    {"no subgraph", kBad, "no subgraph", [](ModelSpec* m) { m->subgraphs.clear(); }},
    {"tensor in a buffer that is not there", kBad,
     "tensor #1 'conv/filter' of subgraph #0 'main' is in buffer 77, but the model has 5",
     [](ModelSpec* m) { Tensor(m, 1).buffer = 77; }},
    {"type that does not exist", kBad, "tensor #0 'image' of subgraph #0 'main' has type 99",
     [](ModelSpec* m) { Tensor(m, 0).type = 99; }},
    {"negative type", kBad, "has type -5", [](ModelSpec* m) { Tensor(m, 0).type = -5; }},
    {"type that no operator has", kNo, "has type FLOAT8_E5M2, which this library does not have",
     [](ModelSpec* m) { Tensor(m, 0).type = 22; }},
    // 54 values of 2 and 4 bits take 14 and 27 bytes.
    {"packed constants that are too short", kBad,
     "'dense/weights' of subgraph #0 'main': buffer 3 has 13 bytes, but int2 of shape [3, 18] "
     "takes "
     "14",
     [](ModelSpec* m) {
       Tensor(m, 5).type = 19;
       m->buffers[3].data.resize(13);
     }},
    {"packed constants that are too long", kBad, "has 15 bytes, but int2 of shape [3, 18] takes 14",
     [](ModelSpec* m) {
       Tensor(m, 5).type = 19;
       m->buffers[3].data.resize(15);
     }},
    {"packed unsigned constants that are too short", kBad,
     "has 26 bytes, but uint4 of shape [3, 18] takes 27",
     [](ModelSpec* m) {
       Tensor(m, 5).type = 20;
       m->buffers[3].data.resize(26);
     }},
    {"packed signed constants that are too short", kBad,
     "has 26 bytes, but int4 of shape [3, 18] takes 27",
     [](ModelSpec* m) {
       Tensor(m, 5).type = 17;
       m->buffers[3].data.resize(26);
     }},
    {"packed shape whose bits overflow", kBad, "whose size overflows",
     [](ModelSpec* m) {
       Tensor(m, 3).type = 19;
       Tensor(m, 3).shape = {2147483647, 2147483647, 4};
     }},
    {"zero point outside int2", kBad, "zero point #0 is 2, which int2 cannot hold",
     [](ModelSpec* m) {
       Tensor(m, 3).type = 19;
       Tensor(m, 3).scales = {1};
       Tensor(m, 3).zero_points = {2};
     }},
    {"zero point outside uint4", kBad, "zero point #0 is -1, which uint4 cannot hold",
     [](ModelSpec* m) {
       Tensor(m, 3).type = 20;
       Tensor(m, 3).scales = {1};
       Tensor(m, 3).zero_points = {-1};
     }},
    {"rank 9", kBad, "tensor #3 'conv' of subgraph #0 'main' has 9 dimensions; 8 are possible",
     [](ModelSpec* m) { Tensor(m, 3).shape.assign(9, 1); }},
    {"negative dimension", kBad, "'pool' of subgraph #0 'main' has the negative dimension -1",
     [](ModelSpec* m) { Tensor(m, 4).shape[1] = -1; }},
    {"shape whose product overflows 64 bits", kBad, "whose size overflows",
     [](ModelSpec* m) {
       Tensor(m, 3).shape = {2147483647, 2147483647, 2147483647};
     }},
    {"shape that overflows beside a zero", kBad, "whose size overflows",
     [](ModelSpec* m) {
       Tensor(m, 3).shape = {0, 2147483647, 2147483647, 2147483647};
     }},
    {"bytes that overflow though elements do not", kBad, "whose size overflows",
     [](ModelSpec* m) {
       Tensor(m, 3).shape = {2147483647, 2147483647, 1};
     }},
    {"shape_signature of another rank", kBad, "has a shape_signature of 2 dimensions and a shape",
     [](ModelSpec* m) {
       Tensor(m, 0).signature = {-1, 6};
     }},
    {"shape_signature below -1", kBad, "has -2 in its shape_signature",
     [](ModelSpec* m) {
       Tensor(m, 0).signature = {-2, 6, 6, 1};
     }},
    {"constant that is too short", kBad,
     "tensor #5 'dense/weights' of subgraph #0 'main': buffer 3 has 215 bytes, but float32 of "
     "shape [3, 18] takes 216",
     [](ModelSpec* m) { m->buffers[3].data.pop_back(); }},
    {"constant that is too long", kBad, "buffer 3 has 217 bytes",
     [](ModelSpec* m) { m->buffers[3].data.push_back(0); }},
    {"constant without elements that has data", kBad, "but float32 of shape [0, 18] takes 0",
     [](ModelSpec* m) { Tensor(m, 5).shape[0] = 0; }},
    {"buffer behind the end of the file", kBad, "Buffer #1 is at offset 1000000",
     [](ModelSpec* m) { m->buffers[1].offset = 1000000; }},
    {"buffer whose offset and size wrap around", kBad, "but the file has",
     [](ModelSpec* m) {
       m->buffers[1].data.clear();
       m->buffers[1].offset = 64;
       m->buffers[1].size = ~uint64_t{0} - 32;
     }},
    {"data in another file", kNo, "has its data in another file",
     [](ModelSpec* m) { Tensor(m, 1).external_buffer = 1; }},
    {"constant resource", kBad, "of type resource, which cannot be a constant",
     [](ModelSpec* m) { Tensor(m, 1).type = 13; }},
    {"constant variable", kBad, "'conv/bias' of subgraph #0 'main' is a variable and has",
     [](ModelSpec* m) { Tensor(m, 2).is_variable = true; }},
    {"scale not a number", kBad, "quantization scale #0 is nan",
     [](ModelSpec* m) { Tensor(m, 3).scales = {kNan}; }},
    {"negative scale", kBad, "quantization scale #0 is -1",
     [](ModelSpec* m) { Tensor(m, 3).scales = {-1.0f}; }},
    {"negative scale among several", kBad, "quantization scale #1 is -1",
     [](ModelSpec* m) {
       Tensor(m, 1).scales = {1.0f, -1.0f};
       Tensor(m, 1).axis = 0;
     }},
    {"infinite scale", kBad, "quantization scale #0 is inf",
     [](ModelSpec* m) { Tensor(m, 3).scales = {std::numeric_limits<float>::infinity()}; }},
    {"two zero points for three scales", kBad, "has 3 scales and 2 zero points",
     [](ModelSpec* m) {
       Tensor(m, 5).scales = {1, 1, 1};
       Tensor(m, 5).zero_points = {0, 0};
     }},
    {"zero point outside its type", kBad, "zero point #0 is 128, which int8 cannot hold",
     [](ModelSpec* m) {
       Tensor(m, 3).type = 9;
       Tensor(m, 3).scales = {1};
       Tensor(m, 3).zero_points = {128};
     }},
    {"zero point outside 32 bits", kBad, "zero point #0 is 4294967296",
     [](ModelSpec* m) {
       Tensor(m, 3).scales = {1};
       Tensor(m, 3).zero_points = {int64_t{1} << 32};
     }},
    {"quantized dimension out of range", kBad, "quantized_dimension is 4",
     [](ModelSpec* m) {
       Tensor(m, 1).scales = {1, 1};
       Tensor(m, 1).axis = 4;
     }},
    {"negative quantized dimension", kBad, "quantized_dimension is -1",
     [](ModelSpec* m) {
       Tensor(m, 1).scales = {1, 1};
       Tensor(m, 1).axis = -1;
     }},
    {"scales that do not fit the axis", kBad, "has 2 scales for axis 1 of shape [2, 3, 3, 1]",
     [](ModelSpec* m) {
       Tensor(m, 1).scales = {1, 1};
       Tensor(m, 1).axis = 1;
     }},
    {"operator code index out of range", kBad,
     "operator #1 of subgraph #0 'main' has opcode_index 9, but the model has 4",
     [](ModelSpec* m) { Operator(m, 1).opcode = 9; }},
    {"negative operator code", kBad, "OperatorCode #0 has builtin code -3",
     [](ModelSpec* m) {
       m->codes[0].builtin = -3;
       m->codes[0].deprecated = -4;
     }},
    {"operator code of a newer schema", kNo, "OperatorCode #0 has builtin code 5000",
     [](ModelSpec* m) { m->codes[0].builtin = 5000; }},
    {"custom operator without a name", kBad, "OperatorCode #1 is CUSTOM but has no custom_code",
     [](ModelSpec* m) { m->codes[1].builtin = m->codes[1].deprecated = 32; }},
    {"operator version 0", kBad, "OperatorCode #2 FULLY_CONNECTED has version 0",
     [](ModelSpec* m) { m->codes[2].version = 0; }},
    {"input index out of range", kBad,
     "operator #0 CONV_2D of subgraph #0 'main': its input #1 is tensor 8, but the subgraph has 8",
     [](ModelSpec* m) { Operator(m, 0).inputs[1] = 8; }},
    {"input index -2", kBad, "its input #0 is tensor -2",
     [](ModelSpec* m) { Operator(m, 3).inputs[0] = -2; }},
    {"output index out of range", kBad, "operator #1 MAX_POOL_2D of subgraph #0 'main': its output",
     [](ModelSpec* m) { Operator(m, 1).outputs[0] = 2147483647; }},
    {"output left out", kBad, "its output #0 is tensor -1",
     [](ModelSpec* m) { Operator(m, 1).outputs[0] = -1; }},
    {"intermediate out of range", kBad, "its intermediate #0 is tensor 50",
     [](ModelSpec* m) { Operator(m, 1).intermediates = {50}; }},
    {"tensor both input and output of an operator", kBad,
     "operator #1 MAX_POOL_2D of subgraph #0 'main' reads tensor #4 'pool' of subgraph #0 'main', "
     "which is its own output",
     [](ModelSpec* m) { Operator(m, 1).inputs[0] = 4; }},
    {"operators in the wrong order", kBad, "which only operator #1, after it, makes",
     [](ModelSpec* m) { std::swap(m->main().ops[0], m->main().ops[1]); }},
    {"cycle of two operators", kBad, "operator #1 MAX_POOL_2D",
     [](ModelSpec* m) {
       Operator(m, 1).inputs[0] = 6;
       Operator(m, 2).inputs[0] = 4;
     }},
    {"tensor that nobody makes", kBad, "which has no data, is no input of the subgraph and is made",
     [](ModelSpec* m) { Operator(m, 1).inputs[0] = m->AddTensor("ghost", DType::kFloat32, {1}); }},
    {"model compiled for another chip", kNo,
     "ethos-u (compiled for Arm Ethos-U by vela; use the model from before, first at operator #1)",
     [](ModelSpec* m) {
       Operator(m, 1).opcode = m->AddCode(OpCode::kCustom, "ethos-u");
       Operator(m, 1).inputs[0] = m->AddTensor("scratch", DType::kUInt8, {64});
     }},
    {"constant whose data was taken away", kBad, "reads tensor #1 'conv/filter'",
     [](ModelSpec* m) { Tensor(m, 1).buffer = 0; }},
    {"tensor made twice", kBad,
     "writes tensor #3 'conv' of subgraph #0 'main', which is already "
     "made by operator #0",
     [](ModelSpec* m) { Operator(m, 1).outputs[0] = 3; }},
    {"output that is a constant", kBad, "writes tensor #5 'dense/weights'",
     [](ModelSpec* m) { Operator(m, 0).outputs[0] = 5; }},
    {"output that is an input of the graph", kBad, "which is an input of the subgraph",
     [](ModelSpec* m) { Operator(m, 0).outputs[0] = 0; }},
    {"output that is a variable", kBad, "which is a variable",
     [](ModelSpec* m) { Tensor(m, 3).is_variable = true; }},
    {"more mutable inputs than inputs", kBad, "has 4 mutating_variable_inputs for 1 inputs",
     [](ModelSpec* m) {
       Operator(m, 3).mutating = {1, 1, 1, 1};
     }},
    {"custom options behind the end", kBad, "has large_custom_options at offset 99999",
     [](ModelSpec* m) {
       Operator(m, 3).large_offset = 99999;
       Operator(m, 3).large_size = 1;
     }},
    {"custom options that wrap around", kBad, "has large_custom_options at offset 16",
     [](ModelSpec* m) {
       Operator(m, 3).large_offset = 16;
       Operator(m, 3).large_size = ~uint64_t{0} - 8;
     }},
    {"graph input out of range", kBad, "subgraph #0 'main': its input #0 is tensor 1000",
     [](ModelSpec* m) { m->main().inputs[0] = 1000; }},
    {"graph input left out", kBad, "its input #0 is tensor -1",
     [](ModelSpec* m) { m->main().inputs[0] = -1; }},
    {"graph input listed twice", kBad, "lists tensor #0 'image' of subgraph #0 'main' twice",
     [](ModelSpec* m) {
       m->main().inputs = {0, 0};
     }},
    {"graph input that is a constant", kBad, "its input #1 is tensor #2 'conv/bias'",
     [](ModelSpec* m) {
       m->main().inputs = {0, 2};
     }},
    {"graph output out of range", kBad, "its output #0 is tensor 8, but it has 8",
     [](ModelSpec* m) { m->main().outputs[0] = 8; }},
    {"graph output that nobody makes", kBad, "its output #0 is tensor #8 'ghost'",
     [](ModelSpec* m) { m->main().outputs[0] = m->AddTensor("ghost", DType::kFloat32, {1}); }},
    {"signature of a subgraph that is not there", kBad,
     "SignatureDef #0 'serving_default' belongs to subgraph 3, but the model has 1",
     [](ModelSpec* m) { m->signatures[0].subgraph = 3; }},
    {"metadata in a buffer that is not there", kBad,
     "Metadata #0 'TFLITE_METADATA' is in buffer 500, but the model has 5",
     [](ModelSpec* m) { m->metadata[0].second = 500; }},
    {"metadata that is none", kBad, "the metadata entry TFLITE_METADATA (216 bytes) is damaged",
     [](ModelSpec* m) { m->metadata[0].second = 3; }},
    {"metadata cut off", kBad, "TFLITE_METADATA (40 bytes) is damaged",
     [](ModelSpec* m) { m->buffers[4].data.resize(40); }},
    {"normalisation by 0", kBad, "normalization divides 1 by 0",
     [](ModelSpec* m) { m->buffers[4].data = BuildMetadata({1}, {0}, ""); }},
    {"normalisation of unequal lengths", kBad, "has 3 means and 1 standard deviations",
     [](ModelSpec* m) {
       m->buffers[4].data = BuildMetadata({1, 2, 3}, {1}, "");
     }},
};

// Of LoopSpec: subgraphs 0 main (WHILE), 1 condition, 2 body (IF), 3 then, 4 else.
const Malformed kLoopCases[] = {
    {"WHILE over a subgraph that is not there", kBad,
     "operator #0 WHILE of subgraph #0 'main' calls subgraph 5, but the model has 5",
     [](ModelSpec* m) { m->main().ops[0].options.fields[1].bits = 5; }},
    {"IF with a negative subgraph", kBad, "operator #0 IF of subgraph #2 'body' calls subgraph -1",
     [](ModelSpec* m) { m->subgraphs[2].ops[0].options.fields[0].bits = 0xffffffffu; }},
    {"WHILE over itself", kBad, "calls subgraph 0, which is calling it",
     [](ModelSpec* m) { m->main().ops[0].options.fields[1].bits = 0; }},
    {"recursion through two subgraphs", kBad,
     "operator #0 IF of subgraph #2 'body' calls subgraph 0, which is calling it",
     [](ModelSpec* m) { m->subgraphs[2].ops[0].options.fields[1].bits = 0; }},
    {"recursion that the main subgraph never reaches", kBad, "calls subgraph 4, which is calling",
     [](ModelSpec* m) {
       m->main().ops[0].options.fields[1].bits = 3;
       m->subgraphs[4].ops[0] = m->subgraphs[2].ops[0];
       m->subgraphs[4].ops[0].inputs[0] = m->AddConstant("c", DType::kBool, {1}, {1}, 4);
     }},
    {"CALL of a subgraph that is not there", kBad, "calls subgraph 4000000000",
     [](ModelSpec* m) {
       m->subgraphs[3].ops[0].opcode = m->AddCode(OpCode::kCall);
       m->subgraphs[3].ops[0].options = OptionsSpec(kCallOptions).Int(0, -294967296);
     }},
    {"composite over a subgraph that is not there", kBad, "calls subgraph 12",
     [](ModelSpec* m) {
       m->subgraphs[3].ops[0].opcode = m->AddCode(OpCode::kStablehloComposite);
       m->subgraphs[3].ops[0].options = OptionsSpec(21, true).Int(1, 12);
     }},
    {"40 subgraphs, each calling the next", kBad, "more than 32 deep",
     [](ModelSpec* m) {
       for (int s = 5; s < 45; ++s) {
         m->subgraphs.push_back(m->subgraphs[3]);
         m->subgraphs.back().ops[0].opcode = m->AddCode(OpCode::kCall);
         m->subgraphs.back().ops[0].options = OptionsSpec(kCallOptions).Int(0, s + 1);
       }
       m->subgraphs.push_back(m->subgraphs[3]);
     }},
    {"2^30 operators through doubling calls", kBad, "hold more than 100",
     [](ModelSpec* m) {
       for (int s = 5; s < 34; ++s) {
         SubgraphSpec next = m->subgraphs[3];
         next.ops[0].opcode = m->AddCode(OpCode::kCall);
         next.ops[0].options = OptionsSpec(kCallOptions).Int(0, s + 1);
         next.ops.push_back(next.ops[0]);
         next.tensors.push_back(next.tensors[1]);
         next.ops[1].outputs = {static_cast<int32_t>(next.tensors.size()) - 1};
         m->subgraphs.push_back(next);
       }
       m->subgraphs.push_back(m->subgraphs[3]);
     }},
};

// Of OddSpec: tensors 0 x, 1 sparse, 2 words, 3 state, 4 out.
const Malformed kOddCases[] = {
    {"traversal order that is no permutation", kBad,
     "needs a traversal_order that is a permutation",
     [](ModelSpec* m) {
       Tensor(m, 1).traversal_order = {0, 0};
     }},
    {"traversal order out of range", kBad, "needs a traversal_order that is a permutation",
     [](ModelSpec* m) {
       Tensor(m, 1).traversal_order = {0, -7};
     }},
    {"one sparse level too few", kBad, "and a dim_metadata for each",
     [](ModelSpec* m) { Tensor(m, 1).levels.pop_back(); }},
    {"format of a level that does not exist", kBad, "level 0 of its sparsity has format 9",
     [](ModelSpec* m) { Tensor(m, 1).levels[0].format = 9; }},
    {"dense level of the wrong size", kBad, "level 0 of its sparsity has dense_size 3, expected 2",
     [](ModelSpec* m) { Tensor(m, 1).levels[0].dense_size = 3; }},
    {"CSR level without indices", kBad, "lacks its array_segments or array_indices",
     [](ModelSpec* m) { Tensor(m, 1).levels[1].index_type = 0; }},
    {"segments that are too few", kBad, "its 2 array_segments do not run from 0",
     [](ModelSpec* m) {
       Tensor(m, 1).levels[1].segments = {0, 3};
     }},
    {"segments beyond the indices", kBad, "do not run from 0 to its 3 array_indices",
     [](ModelSpec* m) {
       Tensor(m, 1).levels[1].segments = {0, 1, 200};
     }},
    {"segments that decrease", kBad, "array_segments decrease at 2",
     [](ModelSpec* m) {
       Tensor(m, 1).shape = {3, 4};
       Tensor(m, 1).scales = {1};
       Tensor(m, 1).zero_points = {0};
       Tensor(m, 1).levels[0].dense_size = 3;
       Tensor(m, 1).levels[1].segments = {0, 2, 1, 3};
     }},
    {"sparse index out of range", kBad, "array_indices #2 is 4; they increase below 4",
     [](ModelSpec* m) {
       Tensor(m, 1).levels[1].indices = {0, 2, 4};
     }},
    {"negative sparse index", kBad, "array_indices #0 is -1",
     [](ModelSpec* m) {
       Tensor(m, 1).levels[1].index_type = 1;
       Tensor(m, 1).levels[1].indices = {-1, 2, 3};
     }},
    {"sparse index twice", kBad, "array_indices #2 is 2; they increase",
     [](ModelSpec* m) {
       Tensor(m, 1).levels[1].indices = {0, 2, 2};
     }},
    {"block size 0", kBad, "block 0 of its sparsity has size 0 on dimension 1",
     [](ModelSpec* m) {
       Tensor(m, 1).traversal_order = {0, 1, 2};
       Tensor(m, 1).block_map = {1};
       Tensor(m, 1).levels.resize(3);
     }},
    {"block of a dimension that is not there", kBad, "size 2 on dimension 6",
     [](ModelSpec* m) {
       Tensor(m, 1).traversal_order = {0, 1, 2};
       Tensor(m, 1).block_map = {6};
       Tensor(m, 1).levels.resize(3);
       Tensor(m, 1).levels[2].dense_size = 2;
     }},
    {"sparse data of the wrong length", kBad, "has 2 bytes, but its sparsity stores 3 elements",
     [](ModelSpec* m) { m->buffers[1].data.pop_back(); }},
    {"string table without its head", kBad, "its string table has 3 bytes; the smallest has 8",
     [](ModelSpec* m) { m->buffers[2].data.resize(3); }},
    {"string table with too many strings", kBad, "cannot hold 2147483647 strings",
     [](ModelSpec* m) {
       std::memset(&m->buffers[2].data[0], 0xff, 3), m->buffers[2].data[3] = 0x7f;
     }},
    {"negative number of strings", kBad, "cannot hold -1 strings",
     [](ModelSpec* m) { std::memset(&m->buffers[2].data[0], 0xff, 4); }},
    {"string table of another shape", kBad, "has 2 strings, its shape has 3 elements",
     [](ModelSpec* m) { Tensor(m, 2).shape = {3}; }},
    {"string offset outside the table", kBad, "offset 1 of its string table is 99, outside its 21",
     [](ModelSpec* m) { m->buffers[2].data[8] = 99; }},
    {"string offsets that decrease", kBad, "offset 2 of its string table is 17",
     [](ModelSpec* m) { m->buffers[2].data[12] = 17; }},
    {"first string offset inside the offsets", kBad, "offset 0 of its string table is 8",
     [](ModelSpec* m) { m->buffers[2].data[4] = 8; }},
};

void Check(ModelSpec (*make)(), const Malformed& malformed) {
  ModelSpec spec = make();
  malformed.damage(&spec);
  const Bytes bytes = BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  INFO(malformed.what);
  REQUIRE_FALSE(model.ok());
  CHECK(model.status().code() == malformed.code);
  CHECK_THAT(model.status().message(), Catch::Contains(malformed.message));
}

}  // namespace

TEST_CASE("malformed: the models that the malformed ones are made from are sound", "[format]") {
  for (const auto make : {ImageSpec, LoopSpec, OddSpec}) {
    const Bytes bytes = BuildModel(make());
    const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
    INFO(model.status().ToString());
    CHECK(model.ok());
  }
}

// A vtable also says how long its table is, which readers do not need.
TEST_CASE("malformed: a length of a table that is wrong leads nowhere", "[format]") {
  Bytes bytes = BuildModel(ImageSpec());
  uint32_t root = 0;
  std::memcpy(&root, bytes.data(), sizeof(root));
  int32_t back = 0;
  std::memcpy(&back, bytes.data() + root, sizeof(back));
  const int64_t vtable = static_cast<int64_t>(root) - back;
  std::memset(bytes.data() + vtable + 2, 0xff, 2);
  const Bytes exact(bytes);  // a block of its own, which ends with the file
  CHECK(Model::OpenMemory(exact.data(), exact.size(), false).status().ToString() == "OK");
}

TEST_CASE("malformed: shapes, buffers, operators, signatures and metadata", "[format]") {
  for (const Malformed& malformed : kImageCases) Check(ImageSpec, malformed);
}

TEST_CASE("malformed: calls between subgraphs", "[format]") {
  for (const Malformed& malformed : kLoopCases) Check(LoopSpec, malformed);
}

TEST_CASE("malformed: sparse and string constants", "[format]") {
  for (const Malformed& malformed : kOddCases) Check(OddSpec, malformed);
}

TEST_CASE("malformed: a hostile name cannot break a message", "[format]") {
  ModelSpec spec = ImageSpec();
  Tensor(&spec, 3).name = std::string("\x1b[2Jevil\n\xff") + std::string(100000, 'x');
  Tensor(&spec, 3).shape.assign(9, 1);
  const Bytes bytes = BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE_FALSE(model.ok());
  const std::string& message = model.status().message();
  CHECK(message.size() < 300);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find('\x1b') == std::string::npos);
  CHECK_THAT(message, Catch::Contains("'\\x1b[2Jevil\\n\\xffxxx"));
}

}  // namespace test
}  // namespace topwork
