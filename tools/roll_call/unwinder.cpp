// SPDX-License-Identifier: Apache-2.0
#include "unwinder.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <weft/runtime/error.hpp>
#include <weft/runtime/loaded_library.hpp>

#include "frame_names.hpp"

namespace weft::tools {
namespace {

/// libdw's functions that are called here, under their own names.
struct library {
  library()
      : file("libdw.so.1", std::make_error_code(std::errc::not_supported),
             "install elfutils' libdw (Debian's libdw1)") {
#define WEFT_FIND(name) file.find(#name, name)
    WEFT_FIND(dwfl_begin);
    WEFT_FIND(dwfl_end);
    WEFT_FIND(dwfl_errmsg);
    WEFT_FIND(dwfl_linux_proc_report);
    WEFT_FIND(dwfl_linux_proc_find_elf);
    WEFT_FIND(dwfl_build_id_find_debuginfo);
    WEFT_FIND(dwfl_report_end);
    WEFT_FIND(dwfl_attach_state);
    WEFT_FIND(dwfl_getthread_frames);
    WEFT_FIND(dwfl_thread_state_registers);
    WEFT_FIND(dwfl_thread_state_register_pc);
    WEFT_FIND(dwfl_frame_pc);
    WEFT_FIND(dwfl_addrmodule);
    WEFT_FIND(dwfl_module_info);
    WEFT_FIND(dwfl_module_addrname);
    WEFT_FIND(dwfl_module_getsrc);
    WEFT_FIND(dwfl_lineinfo);
    WEFT_FIND(dwfl_module_addrdie);
    WEFT_FIND(dwarf_getscopes);
    WEFT_FIND(dwarf_getscopes_die);
    WEFT_FIND(dwarf_tag);
    WEFT_FIND(dwarf_attr);
    WEFT_FIND(dwarf_attr_integrate);
    WEFT_FIND(dwarf_formstring);
    WEFT_FIND(dwarf_formudata);
    WEFT_FIND(dwarf_diename);
    WEFT_FIND(dwarf_getsrcfiles);
    WEFT_FIND(dwarf_filesrc);
#undef WEFT_FIND
  }
  static const library& loaded() {
    static const library the;
    return the;
  }

  loaded_library file;
  decltype(&::dwfl_begin) dwfl_begin;
  decltype(&::dwfl_end) dwfl_end;
  decltype(&::dwfl_errmsg) dwfl_errmsg;
  decltype(&::dwfl_linux_proc_report) dwfl_linux_proc_report;
  decltype(&::dwfl_linux_proc_find_elf) dwfl_linux_proc_find_elf;
  decltype(&::dwfl_build_id_find_debuginfo) dwfl_build_id_find_debuginfo;
  decltype(&::dwfl_report_end) dwfl_report_end;
  decltype(&::dwfl_attach_state) dwfl_attach_state;
  decltype(&::dwfl_getthread_frames) dwfl_getthread_frames;
  decltype(&::dwfl_thread_state_registers) dwfl_thread_state_registers;
  decltype(&::dwfl_thread_state_register_pc) dwfl_thread_state_register_pc;
  decltype(&::dwfl_frame_pc) dwfl_frame_pc;
  decltype(&::dwfl_addrmodule) dwfl_addrmodule;
  decltype(&::dwfl_module_info) dwfl_module_info;
  decltype(&::dwfl_module_addrname) dwfl_module_addrname;
  decltype(&::dwfl_module_getsrc) dwfl_module_getsrc;
  decltype(&::dwfl_lineinfo) dwfl_lineinfo;
  decltype(&::dwfl_module_addrdie) dwfl_module_addrdie;
  decltype(&::dwarf_getscopes) dwarf_getscopes;
  decltype(&::dwarf_getscopes_die) dwarf_getscopes_die;
  decltype(&::dwarf_tag) dwarf_tag;
  decltype(&::dwarf_attr) dwarf_attr;
  decltype(&::dwarf_attr_integrate) dwarf_attr_integrate;
  decltype(&::dwarf_formstring) dwarf_formstring;
  decltype(&::dwarf_formudata) dwarf_formudata;
  decltype(&::dwarf_diename) dwarf_diename;
  decltype(&::dwarf_getsrcfiles) dwarf_getsrcfiles;
  decltype(&::dwarf_filesrc) dwarf_filesrc;
};

constexpr std::size_t most_frames = 128;

/// There is one thread to libdw: whose stack is the one that is unwound.
constexpr pid_t the_thread = 1;

std::string demangled(const char* name) {
  if (name == nullptr) return "?";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  const std::string_view plain(name);
  return text != nullptr ? text.get() : std::string(plain.substr(0, plain.find('@')));  // without a symbol's version
}

class dwarf_unwinder final : public unwinder {
 public:
  explicit dwarf_unwinder(pid_t process) : process_(process), dwfl_(its_.dwfl_begin(&callbacks_), its_.dwfl_end) {
    // What is not in files here is not asked for elsewhere: no debuginfod.
    if (dwfl_ == nullptr) refuse("dwfl_begin");
    if (its_.dwfl_linux_proc_report(dwfl_.get(), process) != 0) refuse("dwfl_linux_proc_report");
    if (its_.dwfl_report_end(dwfl_.get(), nullptr, nullptr) != 0) refuse("dwfl_report_end");
    if (!its_.dwfl_attach_state(dwfl_.get(), nullptr, process, &threads, this)) refuse("dwfl_attach_state");
  }

  std::vector<roll_frame> unwind(const saved_stack& from) override {
    from_ = &from;
    frames_.clear();
    count_ = 0;
    its_.dwfl_getthread_frames(dwfl_.get(), the_thread, &add_frame, this);  // what it fails with ends the stack
    return std::move(frames_);
  }

 private:
  [[noreturn]] void refuse(const char* call) const {
    const char* const why = its_.dwfl_errmsg(-1);
    throw error(std::make_error_code(std::errc::not_supported),
                std::string("libdw.so.1: ") + call + ": " + (why != nullptr ? why : "?"));
  }

  static pid_t next_thread(Dwfl*, void* self, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = self;
    return the_thread;
  }
  static bool get_thread(Dwfl*, pid_t, void* self, void** thread) {
    *thread = self;
    return true;
  }
  static bool read(Dwfl*, Dwarf_Addr at, Dwarf_Word* word, void* self) {
    return static_cast<dwarf_unwinder*>(self)->read(at, *word);
  }
  static bool set_registers(Dwfl_Thread* thread, void* self) {
    const auto& mine = *static_cast<dwarf_unwinder*>(self);
    const saved_registers& from = mine.from_->registers;
    std::array<Dwarf_Word, saved_registers::count> values;
    std::copy(from.values.begin(), from.values.end(), values.begin());
    mine.its_.dwfl_thread_state_register_pc(thread, from.pc);
    return mine.its_.dwfl_thread_state_registers(thread, 0, values.size(), values.data());
  }
  static int add_frame(Dwfl_Frame* frame, void* self) {
    auto& mine = *static_cast<dwarf_unwinder*>(self);
    Dwarf_Addr pc = 0;
    bool exact = false;
    if (!mine.its_.dwfl_frame_pc(frame, &pc, &exact)) return DWARF_CB_ABORT;
    const bool is_first = mine.count_++ == 0;
    // Behind a call: the call itself.
    const bool returns = !exact || (is_first && mine.from_->parked);
    return mine.add(returns ? pc - 1 : pc) ? DWARF_CB_OK : DWARF_CB_ABORT;
  }

  bool read(Dwarf_Addr at, Dwarf_Word& word) const {
    const saved_stack& from = *from_;
    if (at >= from.begin && at - from.begin + sizeof word <= from.bytes.size()) {
      std::memcpy(&word, from.bytes.data() + (at - from.begin), sizeof word);
      return true;
    }
    return read_memory(process_, at, reinterpret_cast<std::byte*>(&word), sizeof word) == sizeof word;
  }

  /// Whether more are wanted.
  bool add(Dwarf_Addr pc) {
    Dwfl_Module* const module = its_.dwfl_addrmodule(dwfl_.get(), pc);
    roll_frame found;
    if (module == nullptr) {
      found.function = "?";
      found.whose = frame_owner::system;
      frames_.push_back(found);
      return frames_.size() < most_frames;
    }
    const char* file = nullptr;
    const char* const name = its_.dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
    found.module = file != nullptr ? file : name != nullptr ? name : "";
    if (Dwfl_Line* const line = its_.dwfl_module_getsrc(module, pc)) {
      const char* const source = its_.dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr);
      found.file = source != nullptr ? source : "";
    }
    add_inlined(module, pc, found);
    found.function = demangled(its_.dwfl_module_addrname(module, pc));
    add(found);
    // Below it nothing has called: the stack begins there.
    const bool is_first_of_fiber = found.function.find("context::arrival::at_new") != std::string::npos;
    return !is_first_of_fiber && frames_.size() < most_frames;
  }
  void add(roll_frame& found) {
    found.whose = owner_of(found);
    frames_.push_back(found);
  }

  /// The functions that were inlined there; `found` is then where the outermost of them was called.
  void add_inlined(Dwfl_Module* module, Dwarf_Addr pc, roll_frame& found) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = its_.dwfl_module_addrdie(module, pc, &bias);
    if (unit == nullptr) return;
    Dwarf_Die* scopes = nullptr;
    if (its_.dwarf_getscopes(unit, pc - bias, &scopes) <= 0) return;
    Dwarf_Die innermost = scopes[0];
    std::free(scopes);
    scopes = nullptr;
    // The scopes of that die as they lie in each other, not those of its origin.
    const int count = its_.dwarf_getscopes_die(&innermost, &scopes);
    const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(scopes, &std::free);
    for (int i = 0; i < count; ++i) {
      const int tag = its_.dwarf_tag(&scopes[i]);
      if (tag == DW_TAG_subprogram) return;
      if (tag != DW_TAG_inlined_subroutine) continue;
      found.function = name_of(scopes[i]);
      add(found);
      found.file = call_file(*unit, scopes[i]);
      found.line = static_cast<int>(number(scopes[i], DW_AT_call_line));
    }
  }
  std::string name_of(Dwarf_Die& of) const {
    Dwarf_Attribute attribute;
    for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
      if (its_.dwarf_attr_integrate(&of, which, &attribute) != nullptr)
        if (const char* const name = its_.dwarf_formstring(&attribute)) return demangled(name);
    const char* const name = its_.dwarf_diename(&of);
    return name != nullptr ? name : "?";
  }
  Dwarf_Word number(Dwarf_Die& of, unsigned which) const {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (its_.dwarf_attr(&of, which, &attribute) != nullptr) its_.dwarf_formudata(&attribute, &value);
    return value;
  }
  std::string call_file(Dwarf_Die& unit, Dwarf_Die& of) const {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    const std::size_t which = number(of, DW_AT_call_file);
    if (its_.dwarf_getsrcfiles(&unit, &files, &count) != 0 || which >= count) return {};
    const char* const name = its_.dwarf_filesrc(files, which, nullptr, nullptr);
    return name != nullptr ? name : "";
  }

  static constexpr Dwfl_Thread_Callbacks threads{&next_thread, &get_thread, &read, &set_registers, nullptr, nullptr};

  const library& its_ = library::loaded();
  const Dwfl_Callbacks callbacks_{its_.dwfl_linux_proc_find_elf, its_.dwfl_build_id_find_debuginfo, nullptr, nullptr};
  const pid_t process_;
  const std::unique_ptr<Dwfl, decltype(&::dwfl_end)> dwfl_;
  const saved_stack* from_ = nullptr;
  std::vector<roll_frame> frames_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<unwinder> unwinder::of(pid_t process) { return std::make_unique<dwarf_unwinder>(process); }

}  // namespace weft::tools
