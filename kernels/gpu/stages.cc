// Stages and launches of nothing else.
#include "kernels/gpu/stages.h"

#include <algorithm>
#include <cstring>

#include "kernels/contract/functions.h"

namespace topwork {
namespace {

constexpr size_t kStageArguments = 3;  // other, lo, hi
constexpr size_t kPlaceArguments = 3;  // row, what lies between two rows, first

bool Begins(const char* form, const char* with) {
  return std::strncmp(form, with, std::strlen(with)) == 0;
}

// The place of the name among those of `names`, each of which ends with a zero and the last with two.
int32_t PlaceOf(const char* name, const char* names) {
  int32_t place = 0;
  for (; *names != '\0' && std::strcmp(names, name) != 0; ++place) names += std::strlen(names) + 1;
  return place;
}

#define TW_NAME(name, text, ...) #text "\0"
int32_t NumberOf(const LaunchStage& stage) {
  const bool is_unary = Begins(stage.form, "value");
  return PlaceOf(stage.function,
                 is_unary ? TW_UNARY_FUNCTIONS(TW_NAME) : TW_BINARY_FUNCTIONS(TW_NAME));
}
#undef TW_NAME

// unary.cl has all functions but these, which some drivers lack.
bool IsInUnary(const LaunchStage& stage) {
  return std::strcmp(stage.function, "TW_SIN") != 0 && std::strcmp(stage.function, "TW_COS") != 0;
}

}  // namespace

int StagedOutput(const Launch& launch) {
  return launch.output < 0 ? -1 : launch.arguments[static_cast<size_t>(launch.output)].buffer;
}

bool IsByRow(const LaunchStage& stage) { return Begins(stage.form, "row"); }

size_t StageArguments(const Launch& launch, size_t stage) {
  const size_t end = launch.arguments.size() - (launch.is_placed ? kPlaceArguments : 0);
  return end - (launch.stages.size() - stage) * kStageArguments;
}

void AddStage(const LaunchStage& stage, int other, float lo, float hi, Launch* launch) {
  const int block = other >= 0 ? other : StagedOutput(*launch);  // any block: it is not read
  launch->stages.push_back(stage);
  launch->arguments.push_back(LaunchArgument::Buffer(block));
  launch->arguments.push_back(LaunchArgument::Float(lo));
  launch->arguments.push_back(LaunchArgument::Float(hi));
}

void FitMap(Launch* launch) {
  const bool by_row = std::any_of(launch->stages.begin(), launch->stages.end(), IsByRow);
  const int64_t columns = by_row || launch->is_placed ? launch->columns : launch->n_elements;
  const int64_t rows = launch->n_elements / columns;
  launch->arguments[2].integer = static_cast<int32_t>(columns);
  launch->arguments[3].integer = static_cast<int32_t>(rows);
  launch->options = columns % 4 == 0 ? " -DTW_ALIGNED" : "";
  launch->global[0] = static_cast<size_t>((columns + 3) / 4);
  launch->global[1] = static_cast<size_t>(rows);
  launch->global[2] = 1;
  launch->work.items = static_cast<int64_t>(launch->global[0] * launch->global[1]);
  ChooseGroups(launch);
}

// Four results that a work-item stores together must lie in one row, and aligned where the
// kernel's rows are.
bool CanPlace(const Launch& launch, const LaunchPlace& place) {
  const auto fours = [](int64_t n) { return n % 4 == 0; };
  const bool is_aligned = launch.is_map()
                              ? fours(launch.columns)  // its rows will be the tensor's
                              : launch.options.find("-DTW_ALIGNED") != std::string::npos;
  if (is_aligned && !(fours(place.row) && fours(place.whole) && fours(place.first))) return false;
  if (launch.is_map() && launch.arguments[0].buffer == StagedOutput(launch)) return false;
  return launch.output >= 0 && !launch.is_placed && launch.columns > 0 &&
         (place.row % launch.columns == 0 || (fours(launch.columns) && fours(place.row)));
}

void Place(int block, const LaunchPlace& place, Launch* launch) {
  const int before = StagedOutput(*launch);
  for (LaunchArgument& argument : launch->arguments) {
    if (argument.kind == LaunchArgument::Kind::kBuffer && argument.buffer == before) {
      argument.buffer = block;
    }
  }
  launch->is_placed = true;
  if (launch->is_map()) FitMap(launch);
  launch->options += " -DTW_PLACED";
  for (const int64_t value : {place.row, place.whole - place.row, place.first}) {
    launch->arguments.push_back(LaunchArgument::Int(static_cast<int32_t>(value)));
  }
}

void NameByArguments(Launch* launch) {
  if (!launch->is_map() || launch->is_placed || launch->stages.size() != 1) return;
  const LaunchStage stage = launch->stages.front();
  if (!IsInUnary(stage)) return;
  launch->stages.clear();
  launch->output = -1;
  std::vector<LaunchArgument>& arguments = launch->arguments;
  if (Begins(stage.form, "value")) {
    launch->program = "unary";
    launch->kernel = "unary";
    const LaunchArgument parameter = arguments[5];
    arguments.resize(3);  // x, y and the number of columns, which are all elements
    arguments.push_back(parameter);
    arguments.push_back(LaunchArgument::Int(NumberOf(stage)));
    return;
  }
  launch->program = "binary";
  launch->kernel = {"binary_rows", "rows"};
  const bool is_left = std::strstr(stage.form, "_left") != nullptr;
  for (const int32_t value : {NumberOf(stage), int32_t{Begins(stage.form, "same")},
                              int32_t{IsByRow(stage)}, int32_t{is_left}}) {
    arguments.push_back(LaunchArgument::Int(value));
  }
}

}  // namespace topwork
