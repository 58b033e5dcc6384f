// C API: the files of a trainer: checkpoints and heads.
#include "runtime/api/trainer_handle.h"

using topwork::api::Report;

tw_status tw_trainer_save_head(const tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->exchange().Save(path));
}

tw_status tw_trainer_save_checkpoint(tw_trainer* trainer, const char* path, int32_t with_examples) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->SaveCheckpoint(path, with_examples != 0));
}

tw_status tw_trainer_hold_file(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->HoldFile(path));
}

tw_status tw_trainer_load(tw_trainer* trainer, const char* path) {
  TW_REQUIRE(trainer);
  TW_REQUIRE(path);
  return Report(trainer->trainer->Load(path));
}
