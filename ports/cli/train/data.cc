// Feeder: the library pulls examples one by one; images are decoded as they are asked for.
#include "ports/cli/train/data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

Feeder::Feeder(const Dataset& data, const std::string& what, bool enabled,
               std::vector<int64_t> class_of)
    : data_(data),
      class_of_(std::move(class_of)),
      progress_(what, data.has_images() ? "images" : "examples", enabled) {
  examples_.struct_size = sizeof(examples_);
  examples_.n_examples = data.size();
  examples_.user_data = this;
  examples_.read = [](void* self, int64_t i, void* const* inputs, size_t, int64_t*) {
    return static_cast<Feeder*>(self)->Read(i, inputs[0]);
  };
  examples_.target = [](void* self, int64_t i, int64_t* label, float* values, size_t n_values) {
    return static_cast<Feeder*>(self)->Target(i, label, values, n_values);
  };
  if (data.has_groups()) {
    examples_.group = [](void* self, int64_t i, int32_t* group) {
      *group = static_cast<Feeder*>(self)->data_.group(i);
      return TW_STATUS_OK;
    };
  }
  examples_.key = [](void* self, int64_t i, char* key, size_t key_bytes) {
    return static_cast<Feeder*>(self)->Key(i, key, key_bytes);
  };
  examples_.progress = [](void* self, int64_t n_done, int64_t n_total) {
    static_cast<Feeder*>(self)->progress_.Update(n_done, n_total);
    return 0;
  };
}

void Feeder::GiveIds() {
  names_.clear();
  ids_.clear();
  for (int64_t i = 0; i < data_.size(); ++i) names_.push_back(data_.Name(i));
  for (const std::string& name : names_) ids_.push_back(name.c_str());
  examples_.ids = ids_.data();
}

void Feeder::Finish(const tw::Status& status) {
  if (failure_) std::rethrow_exception(failure_);
  Check(status);
  progress_.Finish();
}

tw_status Feeder::Read(int64_t i, void* input) noexcept {
  try {
    const std::vector<uint8_t> bytes = data_.Read(i);
    std::memcpy(input, bytes.data(), bytes.size());
    return TW_STATUS_OK;
  } catch (...) {
    failure_ = std::current_exception();
    return TW_STATUS_CANCELLED;
  }
}

tw_status Feeder::Target(int64_t i, int64_t* label, float* values, size_t n_values) noexcept {
  if (data_.has_targets()) {
    if (class_of_.empty()) {
      std::copy_n(data_.targets(i), n_values, values);
      return TW_STATUS_OK;
    }
    std::fill_n(values, n_values, 0.0f);  // for the classes that the data does not name
    for (size_t c = 0; c < class_of_.size(); ++c) values[class_of_[c]] = data_.targets(i)[c];
    return TW_STATUS_OK;
  }
  if (data_.labels().empty()) {
    *label = 0;
    std::fill_n(values, n_values, 0.0f);
    return TW_STATUS_OK;
  }
  const int64_t own = data_.labels()[static_cast<size_t>(i)];
  *label = class_of_.empty() ? own : class_of_[static_cast<size_t>(own)];
  return TW_STATUS_OK;
}

tw_status Feeder::Key(int64_t i, char* key, size_t key_bytes) noexcept {
  try {
    const std::string text = data_.Key(i);
    if (text.size() >= key_bytes) {
      throw CliError(kExitData, data_.Name(i) + ": its path is too long for --cache");
    }
    std::memcpy(key, text.c_str(), text.size() + 1);
    return TW_STATUS_OK;
  } catch (...) {
    failure_ = std::current_exception();
    return TW_STATUS_CANCELLED;
  }
}

void CheckClasses(const Dataset& data, const std::string& folder) {
  if (data.has_targets()) return;
  const std::vector<int64_t> counts = data.ClassCounts();
  size_t n_present = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    n_present += counts[c] > 0;
    if (counts[c] == 0) {
      throw CliError(kExitData, folder + ": class " + data.class_names()[c] +
                                    " has no examples; classes are numbered from 0 without gaps");
    }
  }
  if (n_present < 2) {
    throw CliError(kExitData, folder + ": has only one class ('" + data.class_names()[0] +
                                  "'); a classifier needs two or more");
  }
}

}  // namespace cli
}  // namespace topwork
