set(API_SOURCES
  handles.cc
  library_api.cc
  device_api.cc
  device_policy.cc
  model_api.cc
  model_head.cc
  model_json.cc
  session_create.cc
  session_device.cc
  session_api.cc
)
if(TOPWORK_CUSTOM_OPS)
  list(APPEND API_SOURCES custom_op_api.cc)
else()
  list(APPEND API_SOURCES custom_op_absent.cc)
endif()
if(TOPWORK_JUDGE)
  list(APPEND API_SOURCES judge_api.cc)
else()
  list(APPEND API_SOURCES judge_absent.cc)
endif()
if(TOPWORK_TRAIN)
  list(APPEND API_SOURCES trainer_api.cc trainer_convert.cc trainer_head_api.cc trainer_info_api.cc)
  if(TOPWORK_JUDGE)
    list(APPEND API_SOURCES trainer_evaluate_api.cc)
  else()
    list(APPEND API_SOURCES trainer_evaluate_absent.cc)
  endif()
  if(TOPWORK_CHECKPOINTS)
    list(APPEND API_SOURCES checkpoint_api.cc)
  else()
    list(APPEND API_SOURCES checkpoint_absent.cc)
  endif()
else()
  list(APPEND API_SOURCES trainer_absent.cc)
  if(TOPWORK_JUDGE)  # judging needs no trainer
    list(APPEND API_SOURCES ../train/judge/metrics.cc ../train/judge/score_judge.cc)
  endif()
endif()
if(TOPWORK_TRAIN AND TOPWORK_LEARN)
  list(APPEND API_SOURCES activation_map_api.cc audit_api.cc intervals_api.cc learner_api.cc
       merge_api.cc monitor_api.cc reject_api.cc session_head_api.cc)
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
