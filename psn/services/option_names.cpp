#include "psn/services/option_names.h"

#include <algorithm>
#include <map>
#include <regex>

namespace psn::services {
namespace {

std::string option_name(std::string field) {
  // Those that are not called alike.
  static const std::map<std::string, std::string> kOthers{
      {"count", "-n"}, {"queries", "--query"}, {"held", "--given"}, {"observations", "--observe"}};
  if (const auto other = kOthers.find(field); other != kOthers.end()) return other->second;
  std::replace(field.begin(), field.end(), '_', '-');
  return "--" + field;
}

}  // namespace

std::string with_option_names(const std::string& message) {
  static const std::regex kField("`([a-z][a-z_]*)`");
  std::string result;
  std::size_t end = 0;
  for (std::sregex_iterator at(message.begin(), message.end(), kField), none; at != none; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    result.append(message, end, begin - end).append(option_name((*at)[1]));
    end = begin + static_cast<std::size_t>(at->length());
  }
  return result.append(message, end);
}

std::vector<std::string> with_option_names(std::vector<std::string> messages) {
  for (std::string& message : messages) message = with_option_names(message);
  return messages;
}

}  // namespace psn::services
