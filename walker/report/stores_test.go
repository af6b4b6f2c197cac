package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

// TestStores: where servers of each layout have what a module lacks. A line is a layout, a path,
// and where else the same file may be.
func TestStores(t *testing.T) {
	const id, buildID = "5A9832E5287241C1838ED98914E9B7FF1", "303132333435363738396162636465666768696a"
	const sym = "breakpad app.pdb/" + id + "/app.sym \n"
	const pdb = "microsoft app.pdb/" + id + "/app.pdb app.pdb/" + id + "/app.pd_\n"
	const exe = "microsoft app.exe/5F5E10AB3000/app.exe app.exe/5F5E10AB3000/app.ex_\n"
	const names, rules = "app.pdb has names and no unwind rules", "app.exe alone has no functions and lines"
	for _, tc := range []struct {
		name      string
		os        core.OS
		processor uint16
		stamp     uint32
		buildID   []byte
		has       *symbol.Contents // of the file that is there
		want      string
		program   bool
		finding   string
		noRecord  bool // the dump has no CodeView record of the module
	}{
		{"nothing, x64", core.Windows, core.ProcAMD64, 0x5f5e10ab, nil, nil, sym + pdb + exe, true, "", false},
		{"nothing, arm64", core.Windows, core.ProcARM64, 0x5f5e10ab, nil, nil, sym + pdb + exe, true, "", false},
		{"nothing, x86: its rules are in the PDB", core.Windows, core.ProcX86, 0x5f5e10ab, nil, nil, sym + pdb, false, "", false},
		{"nothing, no time stamp", core.Windows, core.ProcAMD64, 0, nil, nil, sym + pdb, true, "", false},
		{"the PDB alone", core.Windows, core.ProcAMD64, 0x5f5e10ab, nil, &symbol.Contents{Functions: true, NoProgram: true}, sym + exe, true, names, false},
		{"the program alone", core.Windows, core.ProcAMD64, 0x5f5e10ab, nil, &symbol.Contents{CFI: true, DebugFile: "app.pdb", DebugID: id}, sym + pdb, false, rules, false},
		{"the program alone, which names its PDB where the dump does not", core.Windows, core.ProcAMD64, 0x5f5e10ab, nil, &symbol.Contents{CFI: true, DebugFile: "app.pdb", DebugID: id}, sym + pdb, false, rules, true},
		{"both", core.Windows, core.ProcAMD64, 0x5f5e10ab, nil, &symbol.Contents{CFI: true, Functions: true}, "", false, "", false},
		{"Linux", core.OSLinux, core.ProcAMD64, 0, []byte("0123456789abcdefghij"), nil, sym + "debuginfod buildid/" + buildID + "/debuginfo \ndebuginfod buildid/" + buildID + "/executable \n", false, "", false},
		{"Linux without build id", core.OSLinux, core.ProcAMD64, 0, nil, nil, sym, false, "", false},
		{"macOS", core.MacOS, core.ProcARM64, 0, nil, nil, sym, false, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := reporttest.Windows()
			in.Dump.System.OS, in.Dump.System.Processor = tc.os, tc.processor
			m := &in.Dump.Modules[0]
			m.Name, m.DebugFile, m.DebugID, m.TimeDateStamp, m.Size = `C:\bin\app.exe`, `C:\build\app.pdb`, id, tc.stamp, 0x3000
			m.CodeID = fmt.Sprintf("%08x3000", tc.stamp)
			if tc.noRecord {
				m.DebugFile, m.DebugID = "", ""
			}
			if tc.buildID != nil {
				m.CodeView, m.CodeID = core.CodeView{Signature: core.SigBpEL, BuildID: tc.buildID}, buildID
			}
			in.Symbols = func(i int) report.ModuleSymbols {
				s := report.ModuleSymbols{State: report.SymbolsNotNeeded}
				if i == 0 && tc.has != nil {
					s = report.ModuleSymbols{State: report.SymbolsLoaded, File: "app.pdb", Has: *tc.has, NoUnwind: !tc.has.CFI}
				}
				return s
			}
			r := report.Build(in)
			got, program := "", false
			for _, w := range r.Missing {
				if w.Module == 0 {
					for _, s := range w.Stores {
						got += s.Layout + " " + s.Path + " " + s.Else + "\n"
					}
					program = w.Program == "app.exe"
				}
			}
			if got != tc.want || program != tc.program {
				t.Errorf("program wanted: %v; stores\n%swant\n%s", program, got, tc.want)
			}
			found := ""
			for _, f := range r.Findings {
				if f.Module == 0 && tc.has != nil {
					found += f.Text + ": " + f.Suggestion
				}
			}
			if !strings.HasPrefix(found, tc.finding) || tc.finding == "" && found != "" {
				t.Errorf("found %q, want %q", found, tc.finding)
			}
		})
	}
}
