// JoinLaunches, part by part: a part is the launches of an operator.
#include "runtime/plan/join_launches.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/gpu/stages.h"
#include "kernels/ops/products/squeeze_gpu.h"

namespace topwork {
namespace {

using Launches = std::vector<Launch>;

bool Reads(const LaunchArgument& argument, int block) {
  return argument.kind == LaunchArgument::Kind::kBuffer && argument.buffer == block;
}

bool Mentions(const Launch& launch, int block) {
  return std::any_of(launch.arguments.begin(), launch.arguments.end(),
                     [&](const LaunchArgument& argument) { return Reads(argument, block); });
}

bool Mentions(const Launches& part, int block) {
  return std::any_of(part.begin(), part.end(),
                     [&](const Launch& launch) { return Mentions(launch, block); });
}

bool IsForm(const LaunchStage& stage, const char* form) {
  return std::strcmp(stage.form, form) == 0;
}

class Joiner {
 public:
  Joiner(GpuProgram* program, const std::vector<uint8_t>& apart)
      : program_(*program), apart_(apart) {
    size_t begin = 0;
    for (const int end : program_.part_ends) {
      parts_.emplace_back();
      for (; begin < static_cast<size_t>(end); ++begin) {
        parts_.back().push_back(std::move(program_.launches[begin]));
      }
      joined_.emplace_back();
      joined_.back().into = static_cast<int>(joined_.size()) - 1;
    }
    kept_.resize(program_.blocks.size());
    for (const int b : program_.inputs) kept_[static_cast<size_t>(b)] = true;
    for (const int b : program_.outputs) kept_[static_cast<size_t>(b)] = true;
    if (program_.error_block >= 0) kept_[static_cast<size_t>(program_.error_block)] = true;
  }

  std::vector<JoinedPart> Join() {
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].size() == 1 && parts_[p].front().is_map() && !apart_[p]) JoinPart(p);
    }
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].size() == 1 && !apart_[p]) Squeeze(p);
    }
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (!apart_[p]) PlacePieces(p);
    }
    program_.launches.clear();
    for (size_t p = 0; p < parts_.size(); ++p) {
      for (Launch& launch : parts_[p]) {
        NameByArguments(&launch);
        program_.launches.push_back(std::move(launch));
      }
      program_.part_ends[p] = static_cast<int>(program_.launches.size());
    }
    FindLifetimes();
    return std::move(joined_);
  }

 private:
  // The part whose last launch makes the block, for `reader` alone; −1: there is none.
  int SoleMakerOf(int block, size_t reader) const {
    if (kept_[static_cast<size_t>(block)] || !IsArena(block)) return -1;
    int maker = -1;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (p == reader || !Mentions(parts_[p], block)) continue;
      if (maker >= 0 || p > reader || apart_[p]) return -1;
      maker = static_cast<int>(p);
    }
    return maker < 0 || StagedOutput(parts_[static_cast<size_t>(maker)].back()) != block ? -1
                                                                                         : maker;
  }

  // The same of a part that can take the reader's stages.
  int MakerOf(int block, size_t reader) const {
    const int maker = SoleMakerOf(block, reader);
    if (maker < 0) return -1;
    const Launches& part = parts_[static_cast<size_t>(maker)];
    const Launch& last = part.back();
    const Launch& map = parts_[reader].front();
    if (last.stages.size() + map.stages.size() > kMostStages) return -1;
    const bool by_row = std::any_of(map.stages.begin(), map.stages.end(), IsByRow);
    return MentionsBeforeLast(part, block) || (by_row && last.columns != map.columns) ? -1 : maker;
  }

  static bool MentionsBeforeLast(const Launches& part, int block) {
    return std::any_of(part.begin(), part.end() - 1,
                       [&](const Launch& launch) { return Mentions(launch, block); });
  }

  bool IsArena(int block) const {
    // In a trial constants are empty blocks.
    const GpuBlock& it = program_.blocks[static_cast<size_t>(block)];
    return !it.is_constant() && it.bytes > 0;
  }

  // Whether the block is made by a part between the two.
  bool IsMadeBetween(int block, size_t maker, size_t reader) const {
    if (!IsArena(block)) return false;
    const auto& inputs = program_.inputs;
    if (std::find(inputs.begin(), inputs.end(), block) != inputs.end()) return false;
    for (size_t p = 0; p <= maker; ++p) {
      if (Mentions(parts_[p], block)) return false;
    }
    for (size_t p = maker + 1; p < reader; ++p) {
      if (Mentions(parts_[p], block)) return true;
    }
    return false;
  }

  // The other operand of a map's only stage changes places with the main one.
  static bool Swap(Launch* map) {
    LaunchStage& stage = map->stages.front();
    if (map->stages.size() != 1 || !(IsForm(stage, "same") || IsForm(stage, "same_left"))) {
      return false;
    }
    std::swap(map->arguments[0], map->arguments[StageArguments(*map, 0)]);
    stage.form = IsForm(stage, "same") ? "same_left" : "same";
    return true;
  }

  void JoinPart(size_t p) {
    Launch& map = parts_[p].front();
    const LaunchArgument main = map.arguments[0];
    const LaunchArgument other = map.arguments[StageArguments(map, 0)];
    const int output = StagedOutput(map);
    if (main.buffer == output) return;
    int maker = MakerOf(main.buffer, p);
    if (main.buffer == other.buffer) {
      if (!IsForm(map.stages.front(), "value")) return;
    } else if (other.buffer != output) {
      const int second = MakerOf(other.buffer, p);
      if (second > maker && Swap(&map)) maker = second;
    }
    if (maker >= 0) {
      Take(static_cast<size_t>(maker), p);
    } else {
      Scale(p);
    }
  }

  // The only launch that mentions the block, besides part `maker`, and its part; null: there is none.
  Launch* ReaderOf(int block, size_t maker, size_t* part) {
    Launch* reader = nullptr;
    for (size_t p = 0; p < parts_.size(); ++p) {
      for (Launch& launch : parts_[p]) {
        if (p == maker || !Mentions(launch, block)) continue;
        if (reader != nullptr) return nullptr;
        reader = &launch;
        *part = p;
      }
    }
    return reader;
  }

  // Part p's product with a row becomes part of the matrix product that reads it.
  void Scale(size_t p) {
    const Launch& map = parts_[p].front();
    const int output = StagedOutput(map);
    constexpr float kMost = std::numeric_limits<float>::max();
    const size_t at = StageArguments(map, 0);
    const bool is_scale = map.stages.size() == 1 && IsByRow(map.stages[0]) &&
                          std::strcmp(map.stages[0].function, "TW_MUL") == 0 &&
                          map.arguments[at + 1].real <= -kMost &&
                          map.arguments[at + 2].real >= kMost;
    if (!is_scale || kept_[static_cast<size_t>(output)]) return;
    size_t part = 0;
    Launch* reader = ReaderOf(output, p, &part);
    if (reader == nullptr || reader->scaled < 0 || reader->scaled_columns != map.columns) return;
    if (apart_[part]) return;
    LaunchArgument& scaled = reader->arguments[static_cast<size_t>(reader->scaled)];
    const auto n = std::count_if(reader->arguments.begin(), reader->arguments.end(),
                                 [&](const LaunchArgument& it) { return Reads(it, output); });
    if (!Reads(scaled, output) || n != 1) return;
    scaled.buffer = map.arguments[0].buffer;
    const auto end =
        reader->arguments.begin() + static_cast<std::ptrdiff_t>(StageArguments(*reader, 0));
    reader->arguments.insert(end, map.arguments[at]);
    reader->options += " -DTW_SCALED";
    reader->scaled = -1;
    reader->work.loads += 4.0 * static_cast<double>(reader->work.items * reader->work.steps);
    parts_[p].clear();
    joined_[p].leads = false;
    Redirect(p, part);
  }

  // The stages of part p's map go to the last launch of part `maker`.
  void Take(size_t maker, size_t p) {
    Launch map = std::move(parts_[p].front());
    Launch& launch = parts_[maker].back();
    const int between = map.arguments[0].buffer, output = StagedOutput(map);
    bool moves = false;
    for (size_t s = 0; s < map.stages.size(); ++s) {
      const LaunchArgument& other = map.arguments[StageArguments(map, s)];
      moves = moves || (other.buffer != output && IsMadeBetween(other.buffer, maker, p));
    }
    for (LaunchArgument& argument : launch.arguments) {
      if (Reads(argument, between)) argument.buffer = output;
    }
    launch.work.loads += map.work.loads;
    for (size_t s = 0; s < map.stages.size(); ++s) {
      const size_t at = StageArguments(map, s);
      AddStage(map.stages[s], map.arguments[at].buffer, map.arguments[at + 1].real,
               map.arguments[at + 2].real, &launch);
    }
    if (launch.is_map()) FitMap(&launch);
    parts_[p].clear();
    joined_[p].leads = false;
    if (!moves) {
      Redirect(p, maker);
      return;
    }
    parts_[p] = std::move(parts_[maker]);
    parts_[maker].clear();
    Redirect(maker, p);
  }

  // Part p, a small dense layer, becomes one launch with what makes its input.
  void Squeeze(size_t p) {
    const int input = SqueezeInput(parts_[p].front());
    const int maker = input < 0 ? -1 : SoleMakerOf(input, p);
    if (maker < 0 || parts_[static_cast<size_t>(maker)].size() != 1) return;
    Launches& made = parts_[static_cast<size_t>(maker)];
    Launch joined;
    if (!JoinSqueeze(made.front(), parts_[p].front(), &joined)) return;
    parts_[p].front() = std::move(joined);
    made.clear();
    for (size_t k = 0; k < joined_.size(); ++k) {
      if (joined_[k].into == maker) joined_[k].leads = false;
    }
    Redirect(static_cast<size_t>(maker), p);
  }

  // Copies of part p, which joins tensors, that the tensors' makers can do without.
  void PlacePieces(size_t p) {
    Launches left;
    bool any = false;
    for (const Launch& copy : parts_[p]) {
      if (PlacePiece(copy, p)) {
        any = true;
      } else {
        left.push_back(copy);
      }
    }
    if (!any) return;
    joined_[p].is_placed = left.empty();
    parts_[p] = std::move(left);
  }

  bool PlacePiece(const Launch& copy, size_t p) {
    if (copy.into.row == 0) return false;
    const int from = copy.arguments[0].buffer, to = copy.arguments[1].buffer;
    const auto n = std::count_if(parts_[p].begin(), parts_[p].end(),
                                 [&](const Launch& it) { return Mentions(it, from); });
    const int maker = n == 1 ? SoleMakerOf(from, p) : -1;
    if (maker < 0) return false;
    Launches& part = parts_[static_cast<size_t>(maker)];
    if (MentionsBeforeLast(part, from) || !CanPlace(part.back(), copy.into)) return false;
    Place(to, copy.into, &part.back());
    joined_[static_cast<size_t>(maker)].place = static_cast<int>(p);
    return true;
  }

  void Redirect(size_t from, size_t to) {
    for (JoinedPart& part : joined_) {
      if (part.into == static_cast<int>(from)) part.into = static_cast<int>(to);
    }
  }

  void FindLifetimes() {
    const int n = static_cast<int>(program_.launches.size());
    for (GpuBlock& block : program_.blocks) {
      block.first = n;
      block.last = -1;
    }
    const auto live = [&](int b, int at) {
      GpuBlock& block = program_.blocks[static_cast<size_t>(b)];
      block.first = std::min(block.first, at);
      block.last = std::max(block.last, at);
    };
    for (int i = 0; i < n; ++i) {
      for (const LaunchArgument& argument : program_.launches[static_cast<size_t>(i)].arguments) {
        if (argument.kind == LaunchArgument::Kind::kBuffer) live(argument.buffer, i);
      }
    }
    for (const int b : program_.inputs) live(b, 0);
    for (const int b : program_.outputs) live(b, n);
    if (program_.error_block >= 0) live(program_.error_block, n);
    for (GpuBlock& block : program_.blocks) {
      if (block.last < 0 && !block.is_constant()) block.bytes = 0;  // the value between two
    }
  }

  GpuProgram& program_;
  const std::vector<uint8_t>& apart_;
  std::vector<Launches> parts_;
  std::vector<JoinedPart> joined_;
  std::vector<uint8_t> kept_;  // inputs, outputs, the error block
};

}  // namespace

std::vector<JoinedPart> JoinLaunches(GpuProgram* program, const std::vector<uint8_t>& apart) {
  return Joiner(program, apart).Join();
}

}  // namespace topwork
