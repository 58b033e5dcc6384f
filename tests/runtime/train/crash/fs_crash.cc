// Recorded calls up to the power cut, then every subset of what was not yet synced.
#include "tests/runtime/train/crash/fs_crash.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace topwork {
namespace test {
namespace {

constexpr size_t kBlock = 512;

struct Inode {
  std::string synced, now;
};

struct NameChange {
  FsCall::Kind kind;  // kCreate, kRename, kUnlink
  std::string path, to;
  int inode = -1;
};

class Disk {
 public:
  explicit Disk(const Files& before) {
    for (const auto& file : before) {
      names_[file.first] = now_names_[file.first] = static_cast<int>(inodes_.size());
      inodes_.push_back({file.second, file.second});
    }
  }

  void Do(const FsCall& call) {
    switch (call.kind) {
      case FsCall::kCreate:
        open_[call.file] = static_cast<int>(inodes_.size());
        inodes_.push_back(Inode());
        Change({call.kind, call.path, "", open_[call.file]});
        break;
      case FsCall::kRename:
      case FsCall::kUnlink:
        Change({call.kind, call.path, call.to, now_names_.at(call.path)});
        break;
      case FsCall::kWrite: {
        std::string& now = InodeOf(call).now;
        now.resize(std::max(now.size(), static_cast<size_t>(call.offset) + call.data.size()));
        now.replace(static_cast<size_t>(call.offset), call.data.size(), call.data);
        break;
      }
      case FsCall::kTruncate:
        InodeOf(call).now.resize(static_cast<size_t>(call.offset));
        break;
      case FsCall::kSyncFile:
        InodeOf(call).synced = InodeOf(call).now;
        break;
      case FsCall::kSyncFolder:
        for (const NameChange& change : pending_) Apply(change, &names_);
        pending_.clear();
        break;
    }
  }

  void VisitStates(const std::vector<std::string>& paths,
                   const std::function<void(const Files&)>& visit) const {
    for (uint32_t subset = 0; subset < (1u << pending_.size()); ++subset) {
      std::map<std::string, int> names = names_;
      for (size_t i = 0; i < pending_.size(); ++i) {
        if ((subset >> i & 1) != 0) Apply(pending_[i], &names);
      }
      Files state;
      VisitContents(names, paths, 0, &state, visit);
    }
  }

 private:
  Inode& InodeOf(const FsCall& call) { return inodes_[static_cast<size_t>(open_.at(call.file))]; }

  void Change(const NameChange& change) {
    Apply(change, &now_names_);
    pending_.push_back(change);
  }

  static void Apply(const NameChange& change, std::map<std::string, int>* names) {
    if (change.kind == FsCall::kCreate) {
      (*names)[change.path] = change.inode;
      return;
    }
    // The name may be missing: its creation is not among those that lasted.
    const auto found = names->find(change.path);
    if (found != names->end() && found->second == change.inode) names->erase(found);
    if (change.kind == FsCall::kRename) (*names)[change.to] = change.inode;
  }

  // Every part of each file at paths[k...] together with every part of the others.
  void VisitContents(const std::map<std::string, int>& names, const std::vector<std::string>& paths,
                     size_t k, Files* state, const std::function<void(const Files&)>& visit) const {
    if (k == paths.size()) {
      visit(*state);
      return;
    }
    const auto found = names.find(paths[k]);
    if (found == names.end()) {
      VisitContents(names, paths, k + 1, state, visit);
      return;
    }
    const Inode& inode = inodes_[static_cast<size_t>(found->second)];
    for (const std::string& content : PartsOnDisk(inode.synced, inode.now)) {
      (*state)[paths[k]] = content;
      VisitContents(names, paths, k + 1, state, visit);
    }
    state->erase(paths[k]);
  }

  std::vector<Inode> inodes_;
  std::map<std::string, int> names_;      // that last
  std::map<std::string, int> now_names_;  // before the cut
  std::map<int, int> open_;               // number of an open file → inode
  std::vector<NameChange> pending_;
};

}  // namespace

std::vector<std::string> PartsOnDisk(const std::string& synced, const std::string& now) {
  if (synced == now) return {now};
  std::vector<std::string> parts = {synced, now};
  for (size_t n = 0; n < now.size(); ++n) parts.push_back(now.substr(0, n));
  for (size_t first = 0; first < now.size(); first += kBlock) {
    const size_t n = std::min(kBlock, now.size() - first);
    std::string tail_lost = now;
    std::fill(tail_lost.begin() + static_cast<std::ptrdiff_t>(first), tail_lost.end(), '\0');
    parts.push_back(tail_lost);
    std::string block_lost = now;
    block_lost.replace(first, n, n, '\0');
    parts.push_back(block_lost);
    // Only this block has been written, of a file that already has its size.
    std::string alone(now.size(), '\0');
    alone.replace(first, n, now, first, n);
    parts.push_back(alone);
  }
  return parts;
}

void ForEachCrashState(const Files& before, const std::vector<FsCall>& calls, size_t n_calls,
                       const std::vector<std::string>& paths,
                       const std::function<void(const Files& state)>& visit) {
  Disk disk(before);
  for (size_t i = 0; i < n_calls; ++i) disk.Do(calls[i]);
  disk.VisitStates(paths, visit);
}

}  // namespace test
}  // namespace topwork
