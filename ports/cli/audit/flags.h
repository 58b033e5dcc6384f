// The flags that `topwork audit` and `topwork suggest` share.
#ifndef TOPWORK_PORTS_CLI_AUDIT_FLAGS_H_
#define TOPWORK_PORTS_CLI_AUDIT_FLAGS_H_

#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// MODEL, --data and --count, of at most `most` examples.
void AddListFlags(CLI::App* command, const char* data_help, const char* count_help, int64_t most,
                  TrainOptions* train, int64_t* count);
// --cache and what else says how features are made, and --json.
void AddFeatureFlags(CLI::App* command, TrainOptions* train);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_AUDIT_FLAGS_H_
