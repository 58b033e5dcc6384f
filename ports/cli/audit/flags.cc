// Shared flags of `topwork audit` and `topwork suggest`.
#include "ports/cli/audit/flags.h"

namespace topwork {
namespace cli {

void AddListFlags(CLI::App* command, const char* data_help, const char* count_help, int64_t most,
                  TrainOptions* train, int64_t* count) {
  AddModelOption(command, &train->common);
  command->add_option("--data", train->data, data_help)->required()->type_name("DIR");
  command->add_option("--count", *count, count_help)
      ->check(CLI::Range(int64_t{1}, most))
      ->type_name("N")
      ->capture_default_str();
}

void AddFeatureFlags(CLI::App* command, TrainOptions* train) {
  command->add_option("--cache", train->cache, "file that keeps the features for the next run")
      ->type_name("FILE");
  AddThreadsOption(command, &train->common);
  AddDeviceOptions(command, &train->common);
  AddReadingOptions(command, &train->common);
  AddJsonOption(command, &train->common);
}

}  // namespace cli
}  // namespace topwork
