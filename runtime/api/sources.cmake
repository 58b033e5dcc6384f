set(API_SOURCES
  handles.cc
  judge_api.cc
  library_api.cc
  device_api.cc
  device_policy.cc
  model_api.cc
  model_head.cc
  model_json.cc
  session_create.cc
  session_device.cc
  session_api.cc
  custom_op_api.cc
)
if(TOPWORK_TRAIN)
  list(APPEND API_SOURCES trainer_api.cc trainer_convert.cc trainer_evaluate_api.cc
       trainer_head_api.cc trainer_info_api.cc)
else()
  # Judging needs no trainer.
  list(APPEND API_SOURCES trainer_absent.cc ../train/judge/metrics.cc ../train/judge/score_judge.cc)
endif()
if(TOPWORK_TRAIN AND TOPWORK_LEARN)
  list(APPEND API_SOURCES activation_map_api.cc audit_api.cc intervals_api.cc learner_api.cc
       merge_api.cc monitor_api.cc reject_api.cc)
else()
  list(APPEND API_SOURCES learner_absent.cc monitor_absent.cc reject_absent.cc)
endif()
if(TOPWORK_TRAIN AND TOPWORK_QUANTIZER)
  list(APPEND API_SOURCES quantizer_api.cc)
else()
  list(APPEND API_SOURCES quantizer_absent.cc)
endif()
if(TOPWORK_QUANTIZER)
  list(APPEND API_SOURCES prune_api.cc)
else()
  list(APPEND API_SOURCES prune_absent.cc)
endif()
