// topwork learn: a memory of examples that grows, forgets and merges, and the model that follows it.
#include <cstdio>
#include <memory>
#include <optional>

#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/classes.h"
#include "ports/cli/train/data.h"
#include "ports/cli/train/learn_flags.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

class Learning {
 public:
  explicit Learning(const LearnFlags& flags)
      : flags_(flags),
        start_(port::NowNanos()),
        common_(flags.train.common),
        model_(OpenModel(common_.model)),
        input_(CheckValue(model_.Input(0))),
        reading_(ReadingFor(common_, model_, input_)),
        settings_(flags.train, "softmax", {}) {
    if (CheckValue(model_.Info()).n_inputs != 1) {
      throw CliError(kExitUnsupported,
                     common_.model + ": has several inputs; learn needs a model of one");
    }
  }

  void Run() {
    if (!flags_.add.empty()) add_.emplace(OpenData(flags_.add));
    if (!flags_.subtract.empty()) subtract_.emplace(OpenData(flags_.subtract));
    MakeLearner();
    const CancelOnStop cancel([this] { (void)learner_->Cancel(); });
    Merge();
    Remove();
    Relabel();
    Add();
    Write();
    if (common_.json) {
      PrintJson(Describe());
    } else {
      Print();
    }
  }

 private:
  Dataset OpenData(const std::string& folder) {
    Dataset data = Dataset::Open(folder, input_, reading_);
    if (data.has_targets()) {
      throw CliError(kExitData, folder + ": gives each example numbers; learn needs one class");
    }
    if (!common_.json) PrintNote(data.note());
    if (data.has_images())
      settings_.RecordPixels(reading_.pixels, input_.dtype == TW_DTYPE_FLOAT32);
    return data;
  }

  void MakeLearner() {
    tw::LearnerOptions options;
    options.trainer = &settings_.get();
    options.memory_path = flags_.train.memory.c_str();
    options.read_only = flags_.changes() ? 0 : 1;
    options.penalty = PenaltyOf(flags_);
    learner_.emplace(CheckValue(tw::Learner::Create(model_, options), common_.model));
  }

  // A memory from which no model can be made stays as it was.
  void Write() {
    std::optional<tw::Model> model;
    if (!flags_.output.empty()) {
      tw::Result<tw::Model> made = learner_->Export();
      Check(made.status(), flags_.train.memory + (flags_.changes() ? ": is left as it was" : ""));
      model.emplace(std::move(made).value());
    }
    if (flags_.changes()) Check(learner_->Save(flags_.train.memory, flags_.drop_features));
    if (!model) return;
    Check(model->Save(flags_.output),
          flags_.changes() ? flags_.train.memory + ": is changed, but no model was written" : "");
  }

  tw_learner_info Info() const { return CheckValue(learner_->Info()); }
  // Of the memory as it is left.
  int64_t NumKept() const { return flags_.drop_features ? 0 : Info().n_kept; }

  void Merge() {
    for (const std::string& other : flags_.merge) {
      const int64_t before = Info().n_examples;
      n_same_ += CheckValue(learner_->Merge(other));
      n_merged_ += Info().n_examples - before;
    }
  }

  void ChangeClasses() {
    ClassChange change(learner_->class_names());
    for (const std::string& rename : flags_.rename_classes) change.Rename(rename);
    for (const std::string& name : flags_.remove_classes) change.Remove(name);
    if (change.changed()) Check(learner_->SetClasses(change.names(), change.becomes()));
  }

  void Remove() {
    const int64_t before = Info().n_examples;
    ChangeClasses();
    for (const std::string& name : flags_.remove_groups) {
      const tw::Status status = learner_->Remove({{}, {NumberOfGroup(name)}, nullptr});
      if (status.code() == TW_STATUS_NOT_FOUND) {
        throw CliError(kExitData, "--remove-group " + name + ": there is no example of this group");
      }
      Check(status, "--remove-group " + name);
    }
    if (!flags_.remove.empty()) {
      Check(learner_->Remove({flags_.remove, {}, nullptr}), flags_.train.memory);
    }
    if (subtract_) {
      Feeder feeder(*subtract_, "features", ShowProgress(common_.json), ClassesOf(*subtract_));
      feeder.Finish(learner_->Remove({{}, {}, &feeder.get()}));
    }
    n_removed_ = before - Info().n_examples;
  }

  void Relabel() {
    for (const std::string& change : flags_.relabel) {
      const auto sides = SplitChange("--relabel", "ID=CLASS", change);
      const int64_t label = CheckValue(learner_->AddClass(sides.second));
      Check(learner_->Relabel({{sides.first}, {}, nullptr}, label), flags_.train.memory);
    }
  }

  // The learner's number of each class of the data.
  std::vector<int64_t> ClassesOf(const Dataset& data) {
    std::vector<int64_t> classes;
    for (const std::string& name : data.class_names()) {
      classes.push_back(CheckValue(learner_->AddClass(name)));
    }
    return classes;
  }

  void Add() {
    if (!add_) return;
    Feeder feeder(*add_, "features", ShowProgress(common_.json), ClassesOf(*add_));
    feeder.GiveIds();
    feeder.Finish(learner_->Add(feeder.get()));
    n_added_ = add_->size();
  }

  Json Describe() const {
    const tw_learner_info info = Info();
    Json json;
    json["memory"] = flags_.train.memory;
    json["n_examples"] = info.n_examples;
    json["n_kept"] = NumKept();
    json["classes"] = Json::object();
    for (int64_t c = 0; c < info.n_classes; ++c) {
      json["classes"][info.class_names[c]] = info.class_counts[c];
    }
    json["n_added"] = n_added_;
    json["n_removed"] = n_removed_;
    json["n_relabelled"] = flags_.relabel.size();
    json["n_merged"] = n_merged_;
    json["n_same"] = n_same_;
    json["penalty"] = info.penalty;
    json["n_chosen"] = info.n_chosen;
    json["drift"] = info.drift;
    json["seconds"] = port::SecondsSince(start_);
    if (!flags_.output.empty()) json["output"] = flags_.output;
    for (int64_t i = 0; flags_.list && i < NumKept(); ++i) {
      const tw_learner_example& example = info.examples[i];
      Json row = {{"id", example.id}, {"class", info.class_names[example.label]}};
      if (example.group >= 0) row["group"] = example.group;
      json["examples"].push_back(row);
    }
    return json;
  }

  void Print() const {
    const tw_learner_info info = Info();
    if (flags_.list && NumKept() > 0) {
      Table table({"example", "class"});
      for (int64_t i = 0; i < info.n_kept; ++i) {
        const tw_learner_example& example = info.examples[i];
        table.Row({example.id, info.class_names[example.label]});
      }
      table.Print(0);
    }
    std::string classes;
    for (int64_t c = 0; c < info.n_classes; ++c) {
      classes += std::string(c > 0 ? ", " : "") + info.class_names[c] + " " +
                 std::to_string(info.class_counts[c]);
    }
    std::printf("%s  %s: %s (%s)\n", Paint(1, "2", "memory").c_str(), flags_.train.memory.c_str(),
                CountText(info.n_examples, "example").c_str(), classes.c_str());
    if (NumKept() < info.n_examples) {
      std::printf("        %lld of them as sums alone\n",
                  static_cast<long long>(info.n_examples - NumKept()));
    }
    PrintChanges(info);
    if (!flags_.output.empty()) {
      std::printf("%s  %s, %s in all\n", Paint(1, "2", "output").c_str(), flags_.output.c_str(),
                  HumanSeconds(port::SecondsSince(start_)).c_str());
      if (flags_.train.reject != 0.0f && info.n_kept < info.n_examples) {
        std::printf("        it refuses nothing: that takes the features of all examples\n");
      }
    }
  }

  void PrintChanges(const tw_learner_info& info) const {
    std::string text;
    const auto tell = [&](int64_t n, const char* what) {
      if (n > 0) text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + what;
    };
    tell(n_added_, "added");
    tell(n_removed_, "removed");
    tell(static_cast<int64_t>(flags_.relabel.size()), "with another class");
    tell(n_merged_, "merged");
    tell(n_same_, "in both memories");
    if (!text.empty()) std::printf("%s  %s\n", Paint(1, "2", "change").c_str(), text.c_str());
    if (info.penalty > 0.0) {
      std::printf("%s  ridge, penalty %.3g%s\n", Paint(1, "2", "head  ").c_str(), info.penalty,
                  info.n_chosen > 0 ? " by leave-one-out" : "");
    }
  }

  const LearnFlags& flags_;
  const int64_t start_;
  const CommonOptions& common_;
  const tw::Model model_;
  const tw::Tensor input_;
  const Reading reading_;
  TrainerSettings settings_;
  std::optional<Dataset> add_, subtract_;
  std::optional<tw::Learner> learner_;
  int64_t n_added_ = 0, n_removed_ = 0, n_merged_ = 0, n_same_ = 0;
};

}  // namespace

void AddLearnCommand(CLI::App* app) {
  auto flags = std::make_shared<LearnFlags>();
  CLI::App* command =
      app->add_subcommand("learn", "Add, remove and merge examples of a model, without training");
  AddModelOption(command, &flags->train.common);
  AddLearnFlags(command, flags.get());
  AddThreadsOption(command, &flags->train.common);
  AddReadingOptions(command, &flags->train.common);
  AddJsonOption(command, &flags->train.common);
  command->footer(
      "The head is ridge regression, which follows from sums over the examples. After a change it\n"
      "is the one that solving anew from the remaining examples would give. Changes are made in\n"
      "the order merge, rename, remove, subtract, relabel, add. `train --memory` takes the file,\n"
      "too, and the other way round.\n\n"
      "Examples:\n"
      "  topwork learn mobilenet.tflite --memory mine.memory --add photos/ --output mine.tflite\n"
      "  topwork learn mobilenet.tflite --memory mine.memory --list\n"
      "  topwork learn mobilenet.tflite --memory mine.memory --remove cup/7.jpg --output "
      "mine.tflite\n"
      "  topwork learn mobilenet.tflite --memory mine.memory --relabel cup/9.jpg=plate\n"
      "  topwork learn mobilenet.tflite --memory all.memory --merge mine.memory --merge "
      "yours.memory\n");
  command->callback([flags] {
    CheckLearnFlags(*flags);
    Learning(*flags).Run();
  });
}

}  // namespace cli
}  // namespace topwork
