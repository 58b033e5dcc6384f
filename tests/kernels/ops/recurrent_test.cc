// LSTM, RNN and SVDF: golden cases over three runs, and what prepare refuses.
#include <catch2/catch.hpp>

#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace recurrent_test {

using Floats = std::vector<float>;

TEST_CASE("recurrent: golden cases of LSTM", "[ops]") {
  RunOpCases("lstm");
  RunOpCases("lstm_basic");
}

TEST_CASE("recurrent: golden cases of UNIDIRECTIONAL_SEQUENCE_LSTM", "[ops]") {
  RunOpCases("unidirectional_sequence_lstm");
}

TEST_CASE("recurrent: golden cases of BIDIRECTIONAL_SEQUENCE_LSTM", "[ops]") {
  RunOpCases("bidirectional_sequence_lstm");
}

TEST_CASE("recurrent: golden cases of RNN", "[ops]") {
  RunOpCases("rnn");
  RunOpCases("unidirectional_sequence_rnn");
  RunOpCases("bidirectional_sequence_rnn");
}

TEST_CASE("recurrent: golden cases of SVDF", "[ops]") { RunOpCases("svdf"); }

}  // namespace recurrent_test
}  // namespace test
}  // namespace topwork
