set(CLI_SOURCES main.cc common.cc files.cc terminal.cc npy.cc image.cc inputs.cc dataset
        .cc info_command.cc run_command.cc devices_command.cc)
