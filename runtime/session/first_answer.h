// FirstAnswer: whether a device's first answer is the CPU's. Some drivers compute nonsense in the first
// launches of a process, or with one of a model's kernels, and report nothing.
//
// The CPU computes that answer again on a thread of its own, with one thread and packed weights of its
// own, while the session goes on. Answers that it gave in the meantime stand.
#ifndef TOPWORK_RUNTIME_SESSION_FIRST_ANSWER_H_
#define TOPWORK_RUNTIME_SESSION_FIRST_ANSWER_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/session/session.h"

namespace topwork {

// Where it is remembered that a model's first answer on a device was wrong: one small file.
struct FirstAnswerRecord {
  std::string device;  // as its users name it, for messages
  std::string folder;  // of DeviceCacheFolder; "": nothing is remembered
  std::string key;     // model, device, driver, and how it computes

  // What is wrong, from before; OK where nothing is known.
  Status Known() const;
  // Keeps it, and says the same.
  Status Keep(double difference) const;
};

class FirstAnswer {
 public:
  explicit FirstAnswer(FirstAnswerRecord record) : record_(std::move(record)) {}
  ~FirstAnswer();

  // Whether a session on the CPU would give the same answers to the same inputs: without state,
  // custom operators and strings.
  static bool CanCheck(const Session& session);
  // After the session's run, with what it read and answered as it is now. Only the first call
  // counts.
  void Check(const Session& session);
  // Whether it is known by now; and what is wrong then, else OK. An answer that the CPU could not
  // compute counts as right.
  bool is_known() const { return started_ && !work_.is_running(); }
  Status Verdict();

 private:
  struct Tensor {
    TensorView view;
    std::vector<uint8_t> bytes;
  };
  static std::vector<Tensor> CopyOf(const Session& session, bool outputs);
  Status Compute();
  Status Compare(const Session& cpu) const;

  const FirstAnswerRecord record_;
  std::shared_ptr<const Model> model_;
  SessionOptions options_;  // of the session on the CPU
  double tolerance_ = 0.0;
  std::vector<Tensor> inputs_, outputs_;
  bool started_ = false;
  std::mutex mutex_;  // of what follows, which the destructor cancels
  Session* running_ = nullptr;
  bool stopped_ = false;
  AsyncRun work_;  // destroyed first
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_FIRST_ANSWER_H_
