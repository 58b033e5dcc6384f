// Classes: the label set of a trainer, and changes of it.
#ifndef TOPWORK_RUNTIME_TRAIN_CLASSES_H_
#define TOPWORK_RUNTIME_TRAIN_CLASSES_H_

#include <string>
#include <vector>

#include "runtime/train/exporter.h"
#include "runtime/train/judge/judge.h"
#include "runtime/train/training_context.h"

namespace topwork {

// Class losses only. What other classes have learnt stays, bit for bit. Where an example has one
// class, a new one starts from the imprinted mean of its examples when training next begins; where
// it has any number, a new class starts from zeros, and the examples there are do not have it.
class Classes {
 public:
  // `judge` and `exporter` must outlive the object.
  Classes(const TrainingContext& context, Judge* judge, Exporter* exporter)
      : context_(context), judge_(*judge), exporter_(*exporter) {}

  int size() const { return context_.n_classes(); }
  // Empty where classes have no names.
  const std::vector<std::string>& names() const { return context_.options->class_names; }

  Status Add(const std::string& name);
  // The classes after it move up. Examples of this one class are dropped; those that have any number
  // lose this one. Two classes must remain, or one where examples have any number.
  Status Remove(int index);
  Status Rename(int index, const std::string& name);
  // Replaces the label set: names that exist already keep their parameters and examples.
  Status Set(const std::vector<std::string>& names);
  // The same with the new class that each present one becomes (−1: none), whatever it was called.
  // Where several become one, its weights start at their mean. Where every class becomes itself, its
  // name alone changes, with any loss.
  Status Set(const std::vector<std::string>& names, const std::vector<int32_t>& becomes);

 private:
  struct Change {
    std::string name;
    std::vector<int32_t> sources;  // old classes that it takes over; none: new
  };
  Status Apply(const std::vector<Change>& classes);
  Status CheckChange() const;
  Result<TrainingState> StateFor(const ClassSources& sources) const;
  std::vector<std::string> NamesOrNumbers() const;

  const TrainingContext context_;
  Judge& judge_;
  Exporter& exporter_;
};

// INVALID_ARGUMENT for an empty name, and for one that stands twice.
Status CheckClassNames(const std::vector<std::string>& names);

// Where each of `known`, names made printable, stands in `names`; -1: nowhere.
std::vector<int32_t> WhereNamed(const std::vector<std::string>& known,
                                const std::vector<std::string>& names);

// Works out how many classes a new trainer has: options->n_classes and the names' number are made
// to agree. INVALID_ARGUMENT where they, the head or other options contradict each other.
Status ResolveClasses(const Head& head, TrainerOptions* options);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_CLASSES_H_
