// Runs a classifier from C++; compiled without exceptions and RTTI.
// Usage: run_model MODEL (float32 [1, 8, 8, 1] to float32 [1, 10])
#include <algorithm>
#include <cstdio>
#include <topwork/topwork.hpp>

namespace {

tw::Status Run(const char* path) {
  tw::Result<tw::Model> model = tw::Model::OpenFile(path);
  if (!model) return model.status();
  tw::SessionOptions options;
  options.n_threads = 2;
  tw::Result<tw::Session> session = tw::Session::Create(*model, options);
  if (!session) return session.status();

  const std::vector<float> image(64, 0.5f);
  if (tw::Status status = session->WriteInput(0, image); !status) return status;
  if (tw::Status status = session->Run(); !status) return status;
  const tw::Result<std::vector<float>> scores = session->ReadOutput<float>(0);
  if (!scores) return scores.status();
  const auto best = std::max_element(scores->begin(), scores->end());
  std::printf("class %d with %.3f\n", static_cast<int>(best - scores->begin()),
              static_cast<double>(*best));
  return tw::Status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tw::Status status = Run(argv[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status ? 0 : 1;
}
