// Changing the label set of a trainer: every change is one list of old and new classes.
#include "runtime/train/classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/format.h"
#include "runtime/base/printable.h"
#include "runtime/train/identity/identity_head.h"

namespace topwork {
namespace {

// Rows [sources.size(), width]: the mean of the sources' rows in [n_old, width], zero without one.
std::vector<float> MoveRows(Span<const float> old, int64_t width, const ClassSources& sources) {
  std::vector<float> moved;
  moved.reserve(sources.size() * static_cast<size_t>(width));
  for (const std::vector<int32_t>& from : sources) {
    for (int64_t d = 0; d < width; ++d) {
      double sum = 0.0;
      for (int32_t c : from) sum += static_cast<double>(old[static_cast<size_t>(c * width + d)]);
      moved.push_back(from.empty() ? 0.0f : static_cast<float>(sum / double(from.size())));
    }
  }
  return moved;
}

// The new class of what was of an old one; −1: none.
float MovedClass(float old_class, const ClassSources& sources) {
  for (size_t c = 0; c < sources.size(); ++c) {
    for (int32_t from : sources[c]) {
      if (static_cast<float>(from) == old_class) return static_cast<float>(c);
    }
  }
  return -1.0f;
}

// A flat vector in `layout` with the last layer's rows moved.
std::vector<float> MoveHead(Span<const float> old, const std::vector<ParameterInfo>& layout,
                            const ClassSources& sources) {
  std::vector<float> moved;
  if (old.empty()) return moved;
  for (const ParameterInfo& info : layout) {
    const Span<const float> part(old.data() + info.offset, static_cast<size_t>(info.size));
    if (info.name == kHeadWeights || info.name == kHeadBias) {
      const std::vector<float> rows = MoveRows(part, info.size / info.dims[0], sources);
      moved.insert(moved.end(), rows.begin(), rows.end());
    } else if (info.name == kIdentityClasses) {
      for (float old_class : part) moved.push_back(MovedClass(old_class, sources));
    } else {
      moved.insert(moved.end(), part.begin(), part.end());
    }
  }
  return moved;
}

// 1 for each class that nothing was trained for: it has no source, or only such.
template <typename Fresh>
std::vector<uint8_t> MoveFresh(const Fresh& fresh, const ClassSources& sources) {
  std::vector<uint8_t> moved;
  for (const std::vector<int32_t>& from : sources) {
    moved.push_back(std::all_of(from.begin(), from.end(), [&](int32_t c) {
      return static_cast<bool>(fresh[static_cast<size_t>(c)]);
    }));
  }
  return moved;
}

void CopyTo(const std::vector<float>& from, Span<float> to) {
  std::copy(from.begin(),
            from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), to.size())),
            to.begin());
}

}  // namespace

Status CheckClassNames(const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (name.empty()) return InvalidArgument("the new classes hold an empty name");
    if (!known.insert(Printable(name)).second) {
      return InvalidArgument("the new classes hold '{}' twice", name);
    }
  }
  return Status::Ok();
}

std::vector<int32_t> WhereNamed(const std::vector<std::string>& known,
                                const std::vector<std::string>& names) {
  std::map<std::string, int32_t> places;
  for (const std::string& name : names) {
    places.emplace(Printable(name), static_cast<int32_t>(places.size()));
  }
  std::vector<int32_t> where;
  for (const std::string& name : known) {
    const auto place = places.find(name);
    where.push_back(place == places.end() ? -1 : place->second);
  }
  return where;
}

Status Classes::CheckChange() const {
  if (IsRegression(context_.options->loss.loss)) {
    return FailedPrecondition(
        "classes can be changed where there are classes; the loss '{}' has numbers, so make a new "
        "trainer with other outputs",
        LossName(context_.options->loss.loss));
  }
  if (!context_.options->loss.class_weights.empty()) {
    return FailedPrecondition(
        "classes cannot be changed with class_weights given; balance_classes adapts itself");
  }
  return Status::Ok();
}

// Names, or the classes' numbers where there are none.
std::vector<std::string> Classes::NamesOrNumbers() const {
  if (!context_.options->class_names.empty()) return context_.options->class_names;
  std::vector<std::string> names;
  for (int c = 0; c < size(); ++c) names.push_back(StrFormat("{}", c));
  return names;
}

Status Classes::Add(const std::string& name) {
  std::vector<Change> changes;
  for (const std::string& old : NamesOrNumbers()) {
    if (old == Printable(name)) return InvalidArgument("there is a class '{}' already", name);
    changes.push_back({old, {static_cast<int32_t>(changes.size())}});
  }
  changes.push_back({name, {}});
  return Apply(changes);
}

Status Classes::Remove(int index) {
  if (index < 0 || index >= size()) {
    return InvalidArgument("class {} does not exist; there are {}", index, size());
  }
  std::vector<Change> changes;
  const std::vector<std::string> names = NamesOrNumbers();
  for (int c = 0; c < size(); ++c) {
    if (c != index) changes.push_back({names[static_cast<size_t>(c)], {c}});
  }
  return Apply(changes);
}

Status Classes::Rename(int index, const std::string& name) {
  if (index < 0 || index >= size()) {
    return InvalidArgument("class {} does not exist; there are {}", index, size());
  }
  std::vector<std::string> names = NamesOrNumbers();
  names[static_cast<size_t>(index)].clear();
  if (name.empty() || std::count(names.begin(), names.end(), Printable(name)) > 0) {
    return InvalidArgument("class {} cannot be called '{}': {}", index, name,
                           name.empty() ? "a name is needed" : "another class has that name");
  }
  names[static_cast<size_t>(index)] = Printable(name);
  context_.options->class_names = std::move(names);
  return Status::Ok();
}

Status Classes::Set(const std::vector<std::string>& names) {
  return Set(names, WhereNamed(NamesOrNumbers(), names));
}

// The state with the head's rows in their new places.
Result<TrainingState> Classes::StateFor(const ClassSources& sources) const {
  const TrainingState& old = *context_.state;
  const int n_new = static_cast<int>(sources.size());
  TW_ASSIGN_OR_RETURN(TrainingState state, TrainingState::Create(*context_.layers, n_new,
                                                                 *context_.options, context_.pool));
  const std::vector<ParameterInfo>& layout = old.layout();
  CopyTo(MoveHead(old.parameters(), layout, sources), state.network->parameters());
  CopyTo(MoveHead(old.optimizer->moment1(), layout, sources), state.optimizer->moment1());
  CopyTo(MoveHead(old.optimizer->moment2(), layout, sources), state.optimizer->moment2());
  state.optimizer->set_n_updates(old.optimizer->n_updates());
  // Where examples have many classes there is no mean of a class's own.
  const bool imprints = UsesLabels(context_.options->loss.loss);
  const std::vector<uint8_t> fresh = MoveFresh(old.fresh_classes, sources);
  for (size_t c = 0; c < fresh.size(); ++c) state.fresh_classes[c] = imprints && fresh[c] != 0;
  state.learning_rate = old.learning_rate;
  state.temperature = old.temperature;
  state.progress = old.progress;
  state.start.parameters = MoveHead(old.start.parameters, layout, sources);
  state.start.epoch = old.start.epoch;
  if (!old.start.parameters.empty()) {
    state.start.fresh_classes = MoveFresh(old.start.fresh_classes, sources);
    if (!imprints) state.start.fresh_classes.assign(sources.size(), 0);
  }
  state.validated_parameters = MoveHead(old.validated_parameters, layout, sources);
  // The epoch in progress and the best one speak of examples and parameters that may have gone.
  state.ClearEpoch();
  state.ForgetBest();
  return state;
}

Status Classes::Set(const std::vector<std::string>& names, const std::vector<int32_t>& becomes) {
  TW_RETURN_IF_ERROR(CheckClassNames(names));
  const int n_names = static_cast<int>(names.size());
  std::vector<Change> changes;
  for (const std::string& name : names) changes.push_back({name, {}});
  bool same = n_names == size() && static_cast<int>(becomes.size()) == size();
  for (size_t c = 0; c < becomes.size(); ++c) {
    const int32_t to = becomes[c];
    if (to < -1 || to >= n_names || becomes.size() != static_cast<size_t>(size())) {
      return InvalidArgument("class {} of {} would become class {} of {}", c, size(), to, n_names);
    }
    same = same && to == static_cast<int32_t>(c);
    if (to >= 0) changes[static_cast<size_t>(to)].sources.push_back(static_cast<int32_t>(c));
  }
  if (!same) return Apply(changes);
  context_.options->class_names.clear();  // nothing that was learnt changes
  for (const std::string& name : names) context_.options->class_names.push_back(Printable(name));
  return Status::Ok();
}

Status Classes::Apply(const std::vector<Change>& classes) {
  if (kTrainsPlainly) return Unsupported("a change of classes: {}", kBuiltPlainly);
  TW_RETURN_IF_ERROR(CheckChange());
  const int n_new = static_cast<int>(classes.size());
  const int n_least = UsesLabels(context_.options->loss.loss) ? 2 : 1;
  if (n_new < n_least) {
    return InvalidArgument("{} class would remain; {} needed", n_new,
                           n_least == 2 ? "two are" : "one is");
  }
  ClassSources sources;
  std::vector<std::string> names;
  for (const Change& change : classes) {
    sources.push_back(change.sources);
    names.push_back(Printable(change.name));
  }
  // The new state is complete before anything of the old one is given up.
  TW_ASSIGN_OR_RETURN(TrainingState state, StateFor(sources));
  *context_.state = std::move(state);
  context_.options->n_classes = n_new;
  context_.options->class_names = std::move(names);
  context_.set->ChangeClasses(sources);
  judge_.ChangeClasses(sources);
  exporter_.ForgetAccepted();
  return Status::Ok();
}

Status ResolveClasses(const Head& head, TrainerOptions* options) {
  for (std::string& name : options->class_names) name = Printable(name);
  const size_t n_names = options->class_names.size();
  for (size_t i = 0; i < n_names; ++i) {
    if (options->class_names[i].empty()) {
      return InvalidArgument("the name of class {} is empty", i);
    }
  }
  const bool labels = UsesLabels(options->loss.loss);
  if (options->n_classes == 0 && n_names == 0 && head.appended()) {
    return InvalidArgument("a head after a feature needs n_classes or class_names");
  }
  if (options->n_classes == 0) {
    // A head of one score tells two classes apart; here each class has its own.
    const int shipped = labels ? std::max(2, head.n_classes) : std::max(1, head.n_classes);
    options->n_classes = n_names > 0 ? static_cast<int>(n_names) : shipped;
  }
  if (labels && options->n_classes < 2) {
    return InvalidArgument(
        "a classifier of {} class{} cannot be trained; give n_classes of 2 or more",
        options->n_classes, options->n_classes == 1 ? "" : "es");
  }
  if (options->n_classes < 1) return InvalidArgument("n_classes is {}", options->n_classes);
  if (n_names > 0 && n_names != static_cast<size_t>(options->n_classes)) {
    return InvalidArgument("{} class names for {} classes", n_names, options->n_classes);
  }
  const size_t n_weights = options->loss.class_weights.size();
  if (n_weights > 0 && n_weights != static_cast<size_t>(options->n_classes)) {
    return InvalidArgument("{} class weights for {} classes", n_weights, options->n_classes);
  }
  if (options->init == HeadInit::kShipped &&
      (options->n_classes != head.n_classes || head.activation != Activation::kNone)) {
    return InvalidArgument(
        "the new head cannot start from the shipped one, which has {} classes{}; "
        "the new one has {}",
        head.n_classes, head.activation != Activation::kNone ? " and a fused activation" : "",
        options->n_classes);
  }
  return Status::Ok();
}

}  // namespace topwork
