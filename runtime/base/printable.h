// Printable: a text from outside (a name in a model's file) made fit for messages and terminals.
#ifndef TOPWORK_RUNTIME_BASE_PRINTABLE_H_
#define TOPWORK_RUNTIME_BASE_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace topwork {

// Bytes of the UTF-8 sequence at text[0] (length ≥ 1), 0 when it is none: overlong forms,
// surrogates and what lies beyond Unicode count as none.
size_t Utf8Length(const uint8_t* text, size_t length);

// The character of a UTF-8 sequence of n bytes, below U+10000.
unsigned Utf8Code(const uint8_t* text, size_t n);

// True for a UTF-8 sequence of n bytes that acts on a terminal in place of being shown on it:
// control characters, and those that reverse the direction of the text behind them.
bool IsControl(const uint8_t* text, size_t n);

// Control characters become \n, \t, \x1b or \u202e, bytes that are not UTF-8 become \xff: the text
// shows what was there. What is longer than `max_bytes` is cut and ends in "...".
std::string Printable(const char* text, size_t length, size_t max_bytes = 80);
// The same uncut.
std::string Printable(const std::string& text);
// The same for a text of several lines: line ends and tabs stay.
std::string PrintableLines(const std::string& text);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_PRINTABLE_H_
