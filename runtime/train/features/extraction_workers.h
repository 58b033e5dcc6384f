// ExtractionWorkers: the sessions that run the frozen part of a model side by side, on the CPU's
// threads and on OpenCL devices. Whoever is done takes the next batch, so a fast device does more.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WORKERS_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WORKERS_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/features/backbone.h"
#include "runtime/train/options.h"

namespace topwork {

class ExtractionWorkers {
 public:
  // Of `options`: n_threads (≥ 1), feature_batch_size, memory_limit_bytes (of all sessions
  // together), extraction_devices, extraction_storage, allocator, cpu. Errors: those of sessions
  // and of AddDevice.
  static Result<std::unique_ptr<ExtractionWorkers>> Create(std::shared_ptr<const Model> model,
                                                           const Cut& cut,
                                                           const TrainerOptions& options);

  // Starts the CPU's other sessions: one per thread, within the limit. The first worker and one per
  // device are there from the beginning.
  Status AddAll();
  int size() const { return static_cast<int>(backbones_.size()); }
  Backbone& first() { return *backbones_[0]; }
  const Backbone& first() const { return *backbones_[0]; }
  // Where worker i computes: "cpu", "opencl:0".
  const std::string& place(int i) const;
  // All of them, each once: "opencl:0, cpu".
  std::string places() const;
  // n_threads threads, free between calls of Run.
  ThreadPool& pool() { return pool_ ? *pool_ : first().session().pool(); }
  // How "auto" was decided, for people; empty when the caller named the places.
  const std::string& note() const { return note_; }
  // Activations and scratch that the sessions hold now, and the packed weights and folded constants
  // that they share.
  size_t memory_bytes() const;
  size_t packed_bytes() const;

  // The batch of all; false when one of them cannot run with it.
  bool SetBatch(int batch);
  // Calls work(i, backbone) once for every worker, all at the same time, and waits.
  void Run(FunctionRef<void(int i, Backbone* backbone)> work);
  // Makes the runs in progress return CANCELLED.
  void Cancel();

 private:
  ExtractionWorkers() = default;
  DeviceName FasterPlace(std::shared_ptr<const Model> model, const Cut& cut,
                         SessionOptions session);
  Result<std::unique_ptr<Backbone>> NewFirst(const std::shared_ptr<const Model>& model,
                                             const Cut& cut, SessionOptions session, int batch);
  Status AddDevice(std::shared_ptr<const Model> model, const Cut& cut, SessionOptions session,
                   const DeviceName& name, int batch);

  void RunOne(int i, FunctionRef<void(int i, Backbone* backbone)> work) {
    work(i, backbones_[static_cast<size_t>(i)].get());
  }
  int n_devices() const { return static_cast<int>(devices_.size()); }

  TrainerOptions options_;
  std::string note_;
  // One per device, then the CPU's.
  std::vector<std::unique_ptr<Backbone>> backbones_;
  std::vector<std::string> devices_;
  bool uses_cpu_ = true;
  std::unique_ptr<ThreadPool> pool_;  // null where one session has all threads
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_EXTRACTION_WORKERS_H_
