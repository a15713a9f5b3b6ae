// What any bytes must survive when they are taken for records of a trace store: a DataError, or
// traces that can be used. Used by the mutation test and by the libFuzzer target.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/core/run.h"
#include "psn/data/block.h"
#include "psn/data/dictionary.h"
#include "tests/unit/store_programs.h"

namespace psn::test {

enum class RecordKind : std::uint8_t { kAddress, kForm, kTrace, kBlock };
constexpr std::size_t kRecordKinds = 4;

// A dictionary with all sorts of forms, and records that it can read.
class StoreRecords {
 public:
  StoreRecords() {
    run_traces(
        simulator_, 20, [] { return std::make_unique<PriorGuide>(); },
        [&](std::uint64_t, Trace& trace) { traces_.emplace_back(dictionary_.write(trace)); },
        {.keep_distributions = true}, {1, 1});
  }

  const data::Dictionary& dictionary() const { return dictionary_; }

  std::vector<std::string> sound(RecordKind kind) const {
    std::vector<std::string> records;
    switch (kind) {
      case RecordKind::kAddress:
        for (std::size_t i = 0; i < dictionary_.addresses().size(); ++i) {
          records.push_back(dictionary_.address_bytes(i));
        }
        break;
      case RecordKind::kForm:
        for (std::size_t i = 0; i < dictionary_.forms().size(); ++i) {
          records.push_back(dictionary_.form_bytes(i));
        }
        break;
      case RecordKind::kTrace:
        records = traces_;
        break;
      case RecordKind::kBlock:
        data::BlockBuilder block;
        for (std::size_t i = 0; i < traces_.size(); ++i) block.append(traces_[i], i);
        records.push_back(block.finish(traces_.size() - 1));
        break;
    }
    return records;
  }

  // True if the bytes were taken. Any exception but DataError is a defect, and leaves it.
  bool takes(RecordKind kind, const std::string& bytes) const {
    try {
      take(kind, bytes);
      return true;
    } catch (const DataError&) {
      return false;
    }
  }

 private:
  void take(RecordKind kind, const std::string& bytes) const {
    AddressTable table(AddressTable::Names::kSeveral);
    data::Dictionary fresh(table);
    switch (kind) {
      case RecordKind::kAddress:
        return fresh.add_address(bytes);
      case RecordKind::kForm:
        for (std::size_t i = 0; i < dictionary_.addresses().size(); ++i) {
          fresh.add_address(dictionary_.address_bytes(i));
        }
        return fresh.add_form(bytes);
      case RecordKind::kTrace:
        return use(dictionary_.read(bytes));
      case RecordKind::kBlock: {
        const data::BlockView block(bytes, traces_.size() - 1);
        for (std::uint64_t i = 0; i < block.count(); ++i) {
          use(dictionary_.read(block.payload(block.first() + i)));
        }
      }
    }
  }

  // As training would.
  static void use(const Trace& trace) {
    for (const Entry& entry : trace.entries) {
      if (entry.distribution) entry.distribution->log_prob(entry.value);
    }
  }

  InProcess simulator_{everything()};
  data::Dictionary dictionary_{simulator_.addresses()};
  std::vector<std::string> traces_;
};

}  // namespace psn::test
