// `topwork run` on sounds: window after window through one session, which keeps its state between
// them; events as a time line at the end, or as they come. A model that gives [n, classes] scores n
// equal parts of its window.
#ifndef TOPWORK_PORTS_CLI_LISTEN_H_
#define TOPWORK_PORTS_CLI_LISTEN_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

struct ListenOptions {
  std::string labels;
  double threshold = 0.5;
  double gap = 0.0;
  bool stream = false;        // print events as they come
  bool every_window = false;  // with stream: print each window's best class, too
};

void AddListenOptions(CLI::App* command, ListenOptions* options);

// True when the inputs are for Listen: a sound file, standard input ("-"), or anything to stream.
bool IsListening(const std::vector<std::string>& inputs, const ListenOptions& options);

// Throws CliError.
void Listen(const CommonOptions& common, const std::vector<std::string>& inputs,
            const ListenOptions& options);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_LISTEN_H_
