// Bytes as text.
#ifndef TOPWORK_PORTS_CLI_BASE64_H_
#define TOPWORK_PORTS_CLI_BASE64_H_

#include <string>

namespace topwork {
namespace cli {

// RFC 4648, section 4: with padding, without line ends.
std::string Base64(const std::string& bytes);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BASE64_H_
