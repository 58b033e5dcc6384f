"""toolchains/cpp_names.py: which names it finds in C++ text, and the text with other ones.

Usage: cpp_names_test.py
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchains"))
import cpp_names  # noqa: E402

TEXT = r'''
#include <Row>  // Row
namespace topwork {
namespace {
constexpr int kRows = 2, kCols = sizeof(Row) / 2;
[[maybe_unused]] __attribute__((noinline)) static void Swap(Row (&v)[kRows]) {}
using Number = int;
typedef float Four __attribute__((vector_size(16)));
enum class Kind { kOne };
enum { kTwo = 1 << 1, kThree };
template <class T, int kN>
struct Walk {
  explicit Walk(int n) : n(n) {}
  void Finish() { Swap(nullptr); }
  int n;
};
#define CALL(x) Swap(x)
Span<const int> Numbers(const Other& other) { return other.Swap("Swap {", '{').Numbers(); }
void Walker::Step() {}
}  // namespace
Status Seen(int rows);
static int Hidden() { return topwork::Numbers(Other::Swap); }
constexpr int kTable[] = {1, 2};
}  // namespace topwork
void tw_end(const Row* row) { row->Numbers(); Walk<int, 1>(1).Finish(); }
'''
OWN = {"kRows", "kCols", "Swap", "Number", "Four", "Kind", "kTwo", "kThree", "Walk", "Numbers", "Hidden", "kTable"}


def main():
    found = cpp_names.own_names(cpp_names.code_of(TEXT))
    assert found == OWN, found ^ OWN
    assert cpp_names.members(cpp_names.code_of(TEXT)) == {"Finish", "n"}
    changed = cpp_names.rename(TEXT, {"Swap", "Numbers", "Finish", "Walk"}, "_7")
    for there in ("static void Swap_7(Row", "#define CALL(x) Swap_7(x)", 'other.Swap("Swap {", \'{\').Numbers(); }',
                  "explicit Walk_7(int n)", "topwork::Numbers_7(Other::Swap)", "row->Numbers(); Walk_7<int, 1>(1).Finish_7()"):
        assert there in changed, (there, changed)
    inside = cpp_names.make_internal(TEXT)
    assert "namespace { namespace topwork {" in inside and "} }  // namespace topwork\nvoid tw_end" in inside, inside
    assert cpp_names.pasted("#define ROW(n) Run##n, n##Of").fullmatch("RunTanh")
    assert not cpp_names.pasted("#define ROW(n) Run##n, n##Of").fullmatch("Tanh")
    print("names are found and changed")


if __name__ == "__main__":
    main()
