set(JNI_SOURCES
  device.cc examples.cc jni_support.cc model.cc on_load.cc session.cc session_options.cc
  tensor_info.cc topwork.cc trainer.cc trainer_evaluate.cc trainer_fit.cc trainer_info.cc
  trainer_options.cc)
