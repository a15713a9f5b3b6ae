#include "psn/data/trace_messages.h"

#include "psn/ranks/message.h"

namespace psn::data {

std::string TraceMessages::write(std::span<const Trace> traces) {
  std::vector<std::string> records, addresses, forms;
  for (const Trace& trace : traces) records.emplace_back(dictionary_.write(trace));
  while (addresses_sent_ < dictionary_.addresses().size()) {
    addresses.push_back(dictionary_.address_bytes(addresses_sent_++));
  }
  while (forms_sent_ < dictionary_.forms().size()) {
    forms.push_back(dictionary_.form_bytes(forms_sent_++));
  }
  MessageWriter out;
  out.put(addresses);
  out.put(forms);
  out.put(records);
  return out.take();
}

std::vector<Trace> TraceMessages::read(const std::string& message) {
  MessageReader in(message);
  for (const auto& address : in.get<std::vector<std::string>>()) dictionary_.add_address(address);
  for (const auto& form : in.get<std::vector<std::string>>()) dictionary_.add_form(form);
  std::vector<Trace> traces;
  for (const auto& record : in.get<std::vector<std::string>>()) {
    traces.push_back(dictionary_.read(record));
  }
  return traces;
}

}  // namespace psn::data
