// SKIP_GRAM: word sequences of a text (the first string of the input), each joined by spaces:
// ngram_size words in their order with at most max_skip_size words left out between two;
// include_all_ngrams: shorter sequences as well, after the longer ones that begin with them.
// A text of fewer than ngram_size words gives none. Words end at ASCII white space; as in TFLite, a
// first character that is white space stays part of what follows it, or drops it where more
// follows.
#include <climits>
#include <cstring>
#include <vector>

#include "kernels/contract/kernel.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->count = options.Int(0, 0);         // ngram_size
  params->radius = options.Int(1, 0);        // max_skip_size
  params->reverse = options.Bool(2, false);  // include_all_ngrams
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kString}));
  if (context.input(0)->shape.NumElements() == 0) {
    return context.Invalid("{} is empty, a text expected", context.InputName(0));
  }
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kString, Shape({0})));
  return context.LeaveShapeToRun(0);
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<StringRef> WordsOf(const StringRef& text) {
  std::vector<StringRef> words;
  size_t begin = 0;
  for (size_t i = 1; i < text.size; ++i) {
    if (!IsSpace(text.data[i])) continue;
    if (i > begin && !IsSpace(text.data[begin])) words.push_back({text.data + begin, i - begin});
    begin = i + 1;
  }
  if (text.size > begin) words.push_back({text.data + begin, text.size - begin});
  return words;
}

// Calls visit(positions of the words) for every sequence, in TFLite's order; false: it said so.
template <typename Visit>
bool ForEachGram(const OpParams& params, int64_t n_words, Visit visit) {
  if (n_words < params.count) return true;
  const size_t size = static_cast<size_t>(params.count);
  std::vector<int64_t> chosen;         // positions, ascending
  std::vector<int64_t> next(size, 0);  // to be tried at each place
  for (;;) {
    const size_t depth = chosen.size();
    const bool may_grow = depth < size && next[depth] < n_words &&
                          (depth == 0 || next[depth] - chosen[depth - 1] - 1 <= params.radius);
    if (may_grow) {
      chosen.push_back(next[depth]++);
      if (depth + 1 < size) next[depth + 1] = chosen[depth] + 1;
      continue;
    }
    if (depth == 0) return true;
    if ((depth == size || params.reverse) && !visit(chosen)) return false;
    chosen.pop_back();
  }
}

Status Run(const RunContext& context) {
  const OpParams& params = *context.params;
  if (params.count <= 0) return context.SetOutputShape(0, Shape({0}));
  const std::vector<StringRef> words = WordsOf(*context.input_data<StringRef>(0));
  const int64_t n_words = static_cast<int64_t>(words.size());
  int64_t n_grams = 0;
  size_t n_bytes = 0;
  const auto bytes_of = [&](const std::vector<int64_t>& gram) {
    size_t bytes = gram.size() - 1;
    for (int64_t k : gram) bytes += words[static_cast<size_t>(k)].size;
    return bytes;
  };
  const bool counted = ForEachGram(params, n_words, [&](const std::vector<int64_t>& gram) {
    const size_t bytes = bytes_of(gram);
    if (n_grams == INT32_MAX || bytes > SIZE_MAX / 2 - n_bytes) return false;
    n_bytes += bytes;
    ++n_grams;
    return true;
  });
  if (!counted) {
    return InvalidArgument("{} words have too many sequences of {} words", words.size(),
                           params.count);
  }
  TW_RETURN_IF_ERROR(context.SetOutputShape(0, Shape({static_cast<int32_t>(n_grams)})));
  TW_ASSIGN_OR_RETURN(char* text, context.text->Take(n_bytes));
  StringRef* out = context.output_data<StringRef>(0);
  ForEachGram(params, n_words, [&](const std::vector<int64_t>& gram) {
    *out++ = {text, bytes_of(gram)};
    for (size_t k = 0; k < gram.size(); ++k) {
      const StringRef& word = words[static_cast<size_t>(gram[k])];
      if (k > 0) *text++ = ' ';
      std::memcpy(text, word.data, word.size);
      text += word.size;
    }
    return true;
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSkipGram)
        .Types({DType::kString})
        .Options(OptionsType::kSkipGram, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> SkipGramOps() { return Selected<kOps>(); }

}  // namespace topwork
