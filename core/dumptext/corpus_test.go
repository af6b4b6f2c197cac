package dumptext_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptext"
)

const corpus = "../../../shared/corpus"

// rustFields are fields of rust-minidump's --dump, by the record that they stand in, and where the
// same stands here. The record's lines follow a line with its place in a list, "thread[0]".
var rustFields = map[string]map[string]string{
	"MINIDUMP_THREAD": {"thread_id": "thread[%d].id", "suspend_count": "thread[%d].suspend_count", "priority_class": "thread[%d].priority_class",
		"priority": "thread[%d].priority", "teb": "thread[%d].teb", "stack.start_of_memory_range": "thread[%d].stack_start",
		"stack.memory.data_size": "thread[%d].stack.size", "stack.memory.rva": "thread[%d].stack.offset",
		"thread_context.data_size": "thread[%d].context_loc.size", "thread_context.rva": "thread[%d].context_loc.offset"},
	"MINIDUMP_MODULE": {"base_of_image": "module[%d].base", "size_of_image": "module[%d].size", "checksum": "module[%d].checksum",
		"time_date_stamp": "module[%d].time_date_stamp", "cv_record.data_size": "module[%d].code_view_loc.size", "cv_record.rva": "module[%d].code_view_loc.offset",
		"(code_file)": "module[%d].name", "(cv_record).cv_signature": "module[%d].code_view.signature", "(cv_record).age": "module[%d].code_view.age",
		"(cv_record).pdb_file_name": "module[%d].code_view.file"},
	"MINIDUMP_UNLOADED_MODULE": {"base_of_image": "unloaded_module[%d].base", "size_of_image": "unloaded_module[%d].size",
		"checksum": "unloaded_module[%d].checksum", "time_date_stamp": "unloaded_module[%d].time_date_stamp", "(code_file)": "unloaded_module[%d].name"},
	"MINIDUMP_MEMORY_DESCRIPTOR": {"start_of_memory_range": "memory_list[%d].start", "memory.data_size": "memory_list[%d].size",
		"memory.rva": "memory_list[%d].offset"},
	"MINIDUMP_MEMORY_INFO": {"base_address": "memory_info[%d].base", "allocation_base": "memory_info[%d].allocation_base",
		"allocation_protection": "memory_info[%d].allocation_protect", "region_size": "memory_info[%d].size", "state": "memory_info[%d].state",
		"protection": "memory_info[%d].protect", "_type": "memory_info[%d].type"},
	"MINIDUMP_EXCEPTION": {"thread_id": "exception.thread_id", "exception_record.exception_code": "exception.code",
		"exception_record.exception_flags": "exception.flags", "exception_record.exception_record": "exception.record",
		"exception_record.exception_address": "exception.address", "exception_record.exception_information[ 0]": "exception.params[0]",
		"exception_record.exception_information[ 1]": "exception.params[1]", "thread_context.data_size": "exception.context_loc.size",
		"thread_context.rva": "exception.context_loc.offset"},
	"MINIDUMP_SYSTEM_INFO": {"processor_architecture": "system.processor", "processor_level": "system.level", "processor_revision": "system.revision",
		"number_of_processors": "system.cpu_count", "product_type": "system.product", "major_version": "system.major", "minor_version": "system.minor",
		"build_number": "system.build", "platform_id": "system.platform_id", "suite_mask": "system.suite_mask"},
	"MINIDUMP_MISC_INFO": {"size_of_info": "misc_info.size", "flags1": "misc_info.flags", "process_id": "misc_info.process_id",
		"process_create_time": "misc_info.create_time", "process_user_time": "misc_info.user_time", "process_kernel_time": "misc_info.kernel_time",
		"processor_max_mhz": "misc_info.max_mhz", "processor_current_mhz": "misc_info.current_mhz", "time_zone_id": "misc_info.time_zone_id"},
	"MINIDUMP_HANDLE_DESCRIPTOR": {"handle": "handle[%d].handle", "attributes": "handle[%d].attributes", "granted_access": "handle[%d].granted_access",
		"handle_count": "handle[%d].handle_count", "pointer_count": "handle[%d].pointer_count"},
	"MDRawHeader": {"version": "header.version", "stream_count": "header.stream_count", "stream_directory_rva": "header.directory",
		"checksum": "header.checksum", "time_date_stamp": "header.time", "flags": "header.flags"},
	"MDRawDirectory": {"stream_type": "stream[%d].type", "location.data_size": "stream[%d].loc.size", "location.rva": "stream[%d].loc.offset"},
	"CONTEXT_X86": {"eip": "%s.context.eip", "esp": "%s.context.esp", "eax": "%s.context.eax", "ebp": "%s.context.ebp", "cs": "%s.context.cs",
		"context_flags": "%s.context.flags"},
	"CONTEXT_AMD64": {"rip": "%s.context.rip", "rsp": "%s.context.rsp", "rax": "%s.context.rax", "r15": "%s.context.r15", "eflags": "%s.context.eflags",
		"context_flags": "%s.context.flags", "mx_csr": "%s.context.mx_csr"},
}

// TestCorpus prints every dump of the corpus in both forms, and compares values with
// rust-minidump's --dump.
func TestCorpus(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("SKIPPED: the corpus is compared natively only; under js/wasm it would take too long")
	}
	dumps, _ := filepath.Glob(filepath.Join(corpus, "*", "dumps", "*.dmp"))
	more, _ := filepath.Glob(filepath.Join(corpus, "*", "*.dmp"))
	more2, _ := filepath.Glob(filepath.Join(corpus, "other", "*", "*.dmp"))
	dumps = append(append(dumps, more...), more2...)
	if len(dumps) == 0 {
		t.Skip("SKIPPED: no corpus next to the repository: NOTHING is compared with rust-minidump's --dump")
	}
	printed, compared, same, files := 0, 0, 0, 0
	for _, path := range dumps {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if try(t, data) == 0 {
			continue
		}
		printed++
		golden, err := os.ReadFile(filepath.Join(corpus, "golden", strings.TrimSuffix(filepath.Base(path), ".dmp")+".rust-dump.txt"))
		if err != nil {
			continue
		}
		files++
		ours := map[string]string{}
		for line := range strings.Lines(text(t, open(t, data), dumptext.Options{})) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				ours[key] = value
			}
		}
		c, s := compareRust(t, filepath.Base(path), ours, golden)
		compared, same = compared+c, same+s
	}
	t.Logf("%d dumps printed; %d of %d values of %d dumps equal those of rust-minidump's --dump", printed, same, compared, files)
	if printed == 0 || compared == 0 {
		t.Error("nothing was compared")
	}
}

// compareRust walks through rust-minidump's output and looks its values up in ours.
func compareRust(t *testing.T, name string, ours map[string]string, golden []byte) (compared, same int) {
	index, owner := 0, ""
	var fields map[string]string
	shown := 0
	for _, line := range bytes.Split(golden, []byte("\n")) {
		l := string(line)
		if !strings.HasPrefix(l, " ") {
			if _, after, ok := strings.Cut(l, "["); ok && strings.HasSuffix(l, "]") {
				index, _ = strconv.Atoi(strings.TrimSuffix(after, "]"))
				owner = l
				fields = nil
				continue
			}
			fields = rustFields[l]
			if l == "MINIDUMP_EXCEPTION" {
				owner = "exception"
			}
			continue
		}
		key, value, ok := strings.Cut(strings.TrimSpace(l), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		place := fields[key]
		if !ok || place == "" || value == "(invalid)" || value == "(null)" {
			continue
		}
		if strings.Contains(place, "%d") {
			place = fmt.Sprintf(place, index)
		} else if strings.Contains(place, "%s") {
			place = fmt.Sprintf(place, owner)
		}
		compared++
		if key == "flags1" {
			value = "0x" + value // it prints the digits alone
		}
		if strings.Contains(place, "_loc.") && ours[place] == "" {
			ours[place] = "0x0" // a location of nothing is left out
		}
		if equal(ours[place], value) {
			same++
		} else if shown++; shown < 5 {
			t.Errorf("%s: %s is %s, rust-minidump has %s", name, place, ours[place], l)
		}
	}
	return compared, same
}

// equal compares numbers by value, whatever their notation, and texts.
func equal(ours, rust string) bool {
	if strings.HasPrefix(rust, `"`) {
		s, err := strconv.Unquote(ours)
		return err == nil && s == strings.Trim(rust, `"`)
	}
	number := func(s string) (uint64, error) {
		s, _, _ = strings.Cut(s, " ")
		return strconv.ParseUint(s, 0, 64)
	}
	a, err1 := number(ours)
	b, err2 := number(rust)
	return err1 == nil && err2 == nil && a == b
}
