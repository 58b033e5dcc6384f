/* Builds OpenCL programs on the first device and prints "kernel NAME PRIVATE_BYTES" for each of their kernels; the
 * driver prints machine code by itself when its environment says so. Starting a driver takes longer than most programs:
 * one process builds many.
 *
 * Usage: build_program, with two lines for each program on standard input: its file, its options.
 * After each comes a line "built" or "refused" (behind the log). Exit code 2: no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* ReadFile(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 20);
  if (file == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, file) == 0) exit(2);
  fclose(file);
  return text;
}

static void PrintLog(cl_program program, cl_device_id device) {
  static char log[1 << 16];
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  puts(log);
}

static void PrintKernels(cl_program program, cl_device_id device) {
  cl_kernel kernels[256];
  cl_uint n = 0;
  clCreateKernelsInProgram(program, 256, kernels, &n);
  for (cl_uint i = 0; i < n; ++i) {
    char name[256] = "";
    cl_ulong bytes = 0;
    clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    clGetKernelWorkGroupInfo(kernels[i], device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof bytes, &bytes,
                             NULL);
    clReleaseKernel(kernels[i]);
    printf("kernel %s %lu\n", name, (unsigned long)bytes);
  }
}

static int Build(cl_context context, cl_device_id device, const char* path, const char* options) {
  char* text = ReadFile(path);
  cl_int error = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&text, NULL, &error);
  int built =
      error == CL_SUCCESS && clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS;
  if (built) {
    PrintKernels(program, device);
  } else {
    PrintLog(program, device);
  }
  clReleaseProgram(program);
  free(text);
  return built;
}

int main(void) {
  static char path[4096], options[4096];
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = CL_SUCCESS;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return 2;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return 2;
  while (fgets(path, sizeof path, stdin) != NULL && fgets(options, sizeof options, stdin) != NULL) {
    path[strcspn(path, "\n")] = options[strcspn(options, "\n")] = '\0';
    int built = Build(context, device, path, options);
    puts(built ? "built" : "refused");
    fflush(stdout);
  }
  return 0;
}
