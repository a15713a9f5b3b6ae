#include "psn/data/dictionary.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/data/record.h"
#include "trace_store_generated.h"

namespace psn::data {
namespace {

// A variable's name as its author gave it.
std::string name_without_index(const Variable& variable) {
  if (!variable.index || variable.name.empty()) return variable.name;
  return variable.name.substr(0, variable.name.size() - indexed_name("", variable.index).size());
}

std::string address_record(const Address& address) {
  const Variable& variable = *address.variable;
  flatbuffers::FlatBufferBuilder builder;
  const auto scope = builder.CreateString(variable.site->scope);
  const auto base = builder.CreateString(variable.site->base);
  const auto name = builder.CreateString(name_without_index(variable));
  const auto type = builder.CreateString(variable.site->type);
  record::AddressBuilder stored(builder);
  stored.add_scope(scope);
  stored.add_base(base);
  stored.add_name(name);
  stored.add_type(type);
  if (variable.index) stored.add_index(*variable.index);
  stored.add_instance(address.instance);
  builder.Finish(stored.Finish());
  return std::string(finished(builder));
}

struct AddressRecord {
  std::string scope, base, name, type;
  std::optional<std::int64_t> index;
  std::uint32_t instance;
};

AddressRecord parse_address(std::string_view payload) {
  const auto& stored = parsed<record::Address>(payload);
  AddressRecord result{text_of(stored.scope()),
                       text_of(stored.base()),
                       text_of(stored.name()),
                       text_of(stored.type()),
                       {},
                       stored.instance()};
  if (stored.index()) result.index = *stored.index();
  return result;
}

}  // namespace

std::uint32_t Dictionary::number_of(const Address& address) {
  const auto [known, is_new] =
      number_.try_emplace(&address, static_cast<std::uint32_t>(addresses_.size()));
  if (is_new) addresses_.push_back(&address);
  return known->second;
}

std::vector<FormId>& Dictionary::forms_at(const Address* address) {
  const std::size_t place = address ? address->id + std::size_t{1} : 0;
  if (place >= forms_by_address_.size()) forms_by_address_.resize(place + 1);
  return forms_by_address_[place];
}

FormId Dictionary::form_of(const Entry& entry) {
  std::vector<FormId>& known = forms_at(entry.address);
  for (const FormId id : known) {
    if (forms_[id].fits(entry)) return id;
  }
  const auto id = static_cast<FormId>(forms_.size());
  const auto similar = std::find_if(known.rbegin(), known.rend(),
                                    [&](FormId other) { return forms_[other].resembles(entry); });
  Form form = similar == known.rend() ? Form(entry) : forms_[*similar].loosened(entry);
  require_readable(form);
  forms_.push_back(std::move(form));
  known.push_back(id);
  return id;
}

void Dictionary::require_readable(const Form& form) {
  const Address* address = form.address();
  try {
    if (address && !number_.contains(address)) {
      parse_address(address_record(*address));
      number_of(*address);
    }
    Form::parse(form_record(form), addresses_);
  } catch (const DataError& error) {
    throw InvalidArgument(fmt::format("{} cannot be stored: {}",
                                      address
                                          ? fmt::format("address '{}'", abbreviated(address->text))
                                          : std::string("what the program returned"),
                                      error.what()));
  }
}

std::string_view Dictionary::write(const Trace& trace) {
  if (!trace.transitions.empty() && trace.transitions.size() != trace.entries.size() + 1) {
    throw InvalidArgument("transitions that do not lead from entry to entry");
  }
  used_.clear();
  numbers_.clear();
  const auto add = [&](const Entry& entry) {
    used_.push_back(form_of(entry));
    forms_[used_.back()].write(entry, numbers_);
  };
  for (const Entry& entry : trace.entries) add(entry);
  add(Form::result_entry(trace.result));
  constexpr std::size_t kMaxBytes = (1u << 31) - (1u << 20);  // FlatBuffers end at 2 GiB
  if ((numbers_.size() + trace.transitions.size()) * sizeof(double) +
          used_.size() * sizeof(FormId) >
      kMaxBytes) {
    throw InvalidArgument("more than 2 GiB cannot be stored");
  }
  builder_.Clear();
  const auto forms = builder_.CreateVector(used_);
  const auto numbers = builder_.CreateVector(numbers_);
  flatbuffers::Offset<flatbuffers::Vector<double>> transitions;
  if (!trace.transitions.empty()) transitions = builder_.CreateVector(trace.transitions);
  builder_.Finish(record::CreateTrace(builder_, forms, numbers, transitions));
  return finished(builder_);
}

Trace Dictionary::read(std::string_view payload) const {
  const auto& stored = parsed<record::Trace>(payload);
  const auto* forms = stored.forms();
  const auto* stored_numbers = stored.numbers();
  if (!forms || forms->size() == 0) throw DataError("a trace without an end");
  Numbers numbers(stored_numbers ? stored_numbers->Data() : nullptr,
                  stored_numbers ? stored_numbers->size() : 0);
  Trace trace;
  trace.entries.reserve(forms->size() - 1);
  for (flatbuffers::uoffset_t i = 0; i < forms->size(); ++i) {
    const FormId id = forms->Get(i);
    if (id >= forms_.size()) throw DataError(fmt::format("form {} is not known", id));
    const Form& form = forms_[id];
    const bool is_last = i + 1 == forms->size();
    if ((form.role() == Role::kFinish) != is_last) throw DataError("a trace that ends early");
    Entry entry = form.read(numbers);
    if (is_last) {
      trace.result = std::move(entry.value);
      break;
    }
    // As run() sums them up, for traces that are drawn from the model.
    trace.log_joint += entry.log_prob;
    if (entry.given || entry.role == Role::kFactor) trace.log_likelihood += entry.log_prob;
    trace.entries.push_back(std::move(entry));
  }
  if (numbers.left() > 0) throw DataError("a trace with more numbers than its forms need");
  trace.log_weight = trace.log_likelihood;
  if (const auto* transitions = stored.transitions()) {
    if (transitions->size() != forms->size()) {
      throw DataError("a trace with transitions to something else than its forms");
    }
    trace.transitions.assign(transitions->begin(), transitions->end());
  }
  return trace;
}

std::string Dictionary::address_bytes(std::size_t id) const {
  return address_record(*addresses_.at(id));
}

void Dictionary::add_address(std::string_view payload) {
  const AddressRecord stored = parse_address(payload);
  try {
    const Variable* variable =
        table_.variable({stored.scope, stored.base, stored.name, stored.type, stored.index});
    const Address* address = table_.address(variable, stored.instance);
    if (number_of(*address) + std::size_t{1} != addresses_.size()) {
      throw DataError(fmt::format("address '{}' is there twice", address->text));
    }
  } catch (const ModelError& error) {
    throw DataError(error.what());
  }
}

std::string Dictionary::form_bytes(std::size_t id) const {
  return form_record(forms_.at(id));
}

std::string Dictionary::form_record(const Form& form) const {
  std::optional<std::uint32_t> address;
  if (form.address()) address = number_.at(form.address());
  return form.bytes(address);
}

void Dictionary::add_form(std::string_view payload) {
  const auto id = static_cast<FormId>(forms_.size());
  const Form& form = forms_.emplace_back(Form::parse(payload, addresses_));
  forms_at(form.address()).push_back(id);
}

}  // namespace psn::data
