set(API_SOURCES
  handles.cc
  head_json.cc
  library_api.cc
  device_api.cc
  device_policy.cc
  model_api.cc
  model_json.cc
  prune_api.cc
  session_create.cc
  session_device.cc
  session_api.cc
  custom_op_api.cc
)
if(TOPWORK_TRAIN)
  list(APPEND API_SOURCES evaluation_json.cc quantizer_api.cc trainer_api.cc trainer_convert.cc trainer_evaluate_api.cc
       trainer_head_api.cc)
else()
  list(APPEND API_SOURCES trainer_absent.cc)
endif()
