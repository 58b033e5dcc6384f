// tw::Monitor over monitor.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_MONITOR_HPP_
#define TOPWORK_MONITOR_HPP_

#include <memory>
#include <string>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/examples.hpp"
#include "topwork/monitor.h"
#include "topwork/session.hpp"
#include "topwork/train.hpp"

namespace tw {

struct MonitorOptions : tw_monitor_options {
  MonitorOptions() : tw_monitor_options{} { struct_size = sizeof(tw_monitor_options); }
};

// A tw_monitor: one thread at a time.
class Monitor {
 public:
  // options: with one of features, trainer and path.
  static Result<Monitor> Create(const MonitorOptions& options) {
    tw_monitor* handle = nullptr;
    const tw_status status = tw_monitor_create(&options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Monitor(handle);
  }
  // The features of the trainer's examples are the reference.
  static Result<Monitor> Create(const Trainer& trainer, MonitorOptions options = MonitorOptions()) {
    options.trainer = trainer.get();
    return Create(options);
  }
  static Result<Monitor> Open(const std::string& path) {
    MonitorOptions options;
    options.path = path.c_str();
    return Create(options);
  }
  Status Save(const std::string& path) const {
    return Status(tw_monitor_save(get(), path.c_str()));
  }
  // An example; either may be empty.
  Status Add(const std::vector<float>& features, const std::vector<float>& scores) {
    tw_observation seen = Nothing();
    seen.features = features.empty() ? nullptr : features.data();
    seen.n_features = features.size();
    seen.scores = scores.empty() ? nullptr : scores.data();
    seen.n_scores = scores.size();
    return Status(tw_monitor_add(get(), &seen));
  }
  // What the session's last run computed.
  Status Add(const Session& session) {
    tw_observation seen = Nothing();
    seen.session = session.get();
    return Status(tw_monitor_add(get(), &seen));
  }
  Status Add(const Trainer& trainer, const tw_examples& examples) {
    tw_observation seen = Nothing();
    seen.trainer = trainer.get();
    seen.examples = &examples;
    return Status(tw_monitor_add(get(), &seen));
  }
  // Its arrays are borrowed until the next report.
  Result<tw_monitor_report> Report() const {
    return internal::GetStruct<tw_monitor_report>(
        [&](tw_monitor_report* report) { return tw_monitor_get_report(get(), report); });
  }
  tw_monitor* get() const { return handle_.get(); }

 private:
  explicit Monitor(tw_monitor* handle) : handle_(handle) {}
  static tw_observation Nothing() {
    tw_observation seen{};
    seen.struct_size = sizeof(seen);
    return seen;
  }
  std::unique_ptr<tw_monitor, internal::Deleter<tw_monitor, tw_monitor_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_MONITOR_HPP_
