package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// Linux is what Breakpad's Linux writer adds: text files of /proc and more.
type Linux struct {
	CPUInfo, Status, LSBRelease, CmdLine, Environ, Auxv, MapsText Location // raw; Size 0 if absent
	LSB                                                           map[string]string
	PID                                                           uint32 // from /proc/status
	HasPID                                                        bool
	TGID                                                          *uint32 // the process' id of /proc/status, where Pid is a thread's; nil if absent
	StatusFields                                                  []KeyValue
	CPUFields                                                     []KeyValue // of /proc/cpuinfo, first processor first
	Maps                                                          []Mapping
	HasMaps                                                       bool // the stream is there, with or without lines
	HasLSB                                                        bool
	Aux                                                           []AuxEntry   // the auxiliary vector, without the entry that ends it
	Debug                                                         *LinuxDebug  // nil if the dump has none
	Distribution                                                  Distribution // from LSB
}

// Distribution is what /etc/lsb-release or /etc/os-release, whichever the writer found, says about the
// system.
type Distribution struct{ ID, Release, Codename, Description string }

// KeyValue is one line of a /proc file.
type KeyValue struct{ Key, Value string }

// Mapping is a line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64 // End exclusive
	Perms      string // "rwxp"
	Offset     uint64
	Device     string
	Inode      uint64
	Path       string
}

const (
	// maxText bounds a text stream in bytes, maxTextFields its lines that are kept.
	maxText       = 16 << 20
	maxTextFields = 20000
	maxMaps       = 200000
)

// text reads a whole text stream. What ends it early is the cursor's error, after what could be
// read.
func text(c *input.Cursor) string {
	if c.Left() > maxText {
		p := c.Bytes(maxText)
		c.Fail(fmt.Sprintf("at most %d bytes of text", maxText), "more")
		return string(p)
	}
	return string(c.Bytes(c.Left()))
}

// fields splits lines at sep and trims blanks around both. Lines without sep are left out: none of
// these files has any that carry a value.
func fields(s string, sep string) []KeyValue {
	var out []KeyValue
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, sep)
		if !ok || len(out) >= maxTextFields {
			continue
		}
		out = append(out, KeyValue{clean(key), clean(value)})
	}
	return out
}

// clean trims white space and the 0 bytes that some writers leave at the end, and makes the rest
// valid UTF-8.
func clean(s string) string {
	return strings.ToValidUTF8(strings.Trim(s, " \t\r\n\v\f\x00"), "\uFFFD")
}

// decodeLinuxCPUInfo reads a copy of /proc/cpuinfo: lines of "key : value".
func decodeLinuxCPUInfo(d *Dump, s *Stream, c *input.Cursor) {
	d.Linux.CPUInfo = s.Loc
	d.Linux.CPUFields = fields(text(c), ":")
}

// decodeLinuxStatus reads the process id from a copy of /proc/PID/status.
func decodeLinuxStatus(d *Dump, s *Stream, c *input.Cursor) {
	d.Linux.Status = s.Loc
	d.Linux.StatusFields = fields(text(c), ":")
	for _, f := range d.Linux.StatusFields {
		if f.Key != "Pid" && f.Key != "Tgid" {
			continue
		}
		id, err := strconv.ParseUint(f.Value, 10, 32)
		switch n := uint32(id); {
		case err != nil:
			d.remark(Warning, s.Type, int64(s.Loc.Off), "a number after "+f.Key+":", fmt.Sprintf("%q", f.Value))
		case f.Key == "Tgid" && d.Linux.TGID == nil:
			d.Linux.TGID = &n
		case f.Key == "Pid" && !d.Linux.HasPID:
			d.Linux.PID, d.Linux.HasPID = n, true
		}
	}
}

// decodeLinuxLSB reads a copy of /etc/lsb-release: lines of KEY=value, the value perhaps in quotes.
func decodeLinuxLSB(d *Dump, s *Stream, c *input.Cursor) {
	d.Linux.LSBRelease, d.Linux.HasLSB = s.Loc, true
	d.Linux.LSB = map[string]string{}
	for _, f := range fields(text(c), "=") {
		v := strings.Trim(f.Value, `"`)
		d.Linux.LSB[f.Key] = v
		// lsb-release's names, then os-release's (os-release(5)).
		switch dist := &d.Linux.Distribution; f.Key {
		case "DISTRIB_ID", "ID":
			dist.ID = v
		case "DISTRIB_RELEASE", "VERSION_ID":
			dist.Release = v
		case "DISTRIB_CODENAME", "VERSION_CODENAME":
			dist.Codename = v
		case "DISTRIB_DESCRIPTION", "PRETTY_NAME":
			dist.Description = v
		}
	}
}

// decodeLinuxRaw only notes where the bytes are: command line and environment are shown on demand
// (CommandLine, Environment).
func decodeLinuxRaw(d *Dump, s *Stream, c *input.Cursor) {
	switch s.Type {
	case StreamLinuxCmdLine:
		d.Linux.CmdLine = s.Loc
	case StreamLinuxEnviron:
		d.Linux.Environ = s.Loc
	}
	c.Skip(c.Left())
}

// decodeText is for streams that are a text and nothing else.
func decodeText(_ *Dump, _ *Stream, c *input.Cursor) { c.Skip(c.Left()) }

// decodeLinuxMaps reads /proc/PID/maps (proc_pid_maps(5)), one line a mapping:
//
//	start-end perms offset device inode path        the path may have spaces, and is empty for anonymous memory
func decodeLinuxMaps(d *Dump, s *Stream, c *input.Cursor) {
	d.Linux.MapsText, d.Linux.HasMaps = s.Loc, true
	at := int64(s.Loc.Off)
	bad, badAt, first := 0, at, ""
	for line := range strings.Lines(text(c)) {
		if m, ok := parseMapping(line); ok {
			if len(d.Linux.Maps) >= maxMaps {
				d.remark(Warning, s.Type, at, fmt.Sprintf("at most %d mappings", maxMaps), "more")
				return
			}
			d.Linux.Maps = append(d.Linux.Maps, m)
		} else if clean(line) != "" {
			if bad++; bad == 1 {
				badAt, first = at, clean(line)
			}
		}
		at += int64(len(line))
	}
	if bad > 0 {
		d.remark(Warning, s.Type, badAt, "a line of /proc/PID/maps", fmt.Sprintf("%.80q (%d such lines)", first, bad))
	}
}

// parseMapping reads one line of /proc/PID/maps: "start-end perms offset device inode path". The
// path may have blanks.
func parseMapping(line string) (m Mapping, ok bool) {
	rest := clean(line)
	next := func() string {
		var word string
		word, rest, _ = strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		return word
	}
	start, end, dash := strings.Cut(next(), "-")
	var err, bad error
	num := func(s string, base int) uint64 {
		v, e := strconv.ParseUint(s, base, 64)
		if e != nil {
			bad = e
		}
		return v
	}
	m.Start, m.End = num(start, 16), num(end, 16)
	if err = bad; !dash || err != nil {
		return m, false
	}
	m.Perms = next()
	if m.Perms == "" {
		return m, false
	}
	bad = nil
	m.Offset, m.Device, m.Inode = num(next(), 16), next(), num(next(), 10)
	m.Path = strings.TrimLeft(rest, " \t")
	// The numbers after the permissions are of no use if they are broken; the range
	// still is.
	return m, true
}
