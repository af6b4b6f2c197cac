package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/signature"
)

// fileLists are the signature lists of a folder, in the form of Mozilla's siggen: regular
// expressions, an entry a line, that match from the beginning of a word; the sentinels are plain
// words.
type fileLists struct {
	irrelevant, prefixes, withLine *regexp.Regexp
	sentinels                      []string
}

// readSignatureLists reads the lists in dir. Errors name the file and what is wrong with it.
//
// The files are those of Mozilla's socorro-siggen:
//
//	irrelevant_signature_re.txt            frames that are left out of a signature
//	prefix_signature_re.txt                frames that do not end a signature
//	signatures_with_line_numbers_re.txt    functions that get the source line
//	signature_sentinels.txt                words at which a signature starts
func readSignatureLists(dir string) (*fileLists, error) {
	l := &fileLists{}
	for name, to := range map[string]**regexp.Regexp{"irrelevant_signature_re.txt": &l.irrelevant, "prefix_signature_re.txt": &l.prefixes,
		"signatures_with_line_numbers_re.txt": &l.withLine} {
		entries, err := listEntries(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if *to, err = regexp.Compile("^(?:" + strings.Join(entries, "|") + ")"); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
	}
	var err error
	l.sentinels, err = listEntries(filepath.Join(dir, "signature_sentinels.txt"))
	return l, err
}

// listEntries returns the lines of a list, without blank ones and comments.
func listEntries(path string) (entries []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			entries = append(entries, line)
		}
	}
	return entries, nil
}

// The methods implement the lists that package signature uses; a frame itself plays no part.
func (l *fileLists) Irrelevant(word string, _ *signature.Frame) bool {
	return l.irrelevant.MatchString(word)
}
func (l *fileLists) Prefix(word string, _ *signature.Frame) bool { return l.prefixes.MatchString(word) }
func (l *fileLists) WithLine(function string) bool               { return l.withLine.MatchString(function) }

// Shown returns the word itself, as siggen does, which knows nothing of the nearest names.
func (l *fileLists) Shown(word string, _ *signature.Frame) string { return word }

// Once reports whether consecutive frames with the same word count once: those of a library without
// symbols, known by the ending of Windows or Linux or as Firefox' own on macOS, and those whose
// name the symbol file omits.
func (l *fileLists) Once(word string, _ *signature.Frame) bool {
	lower := strings.ToLower(word)
	return !strings.HasPrefix(word, "(unloaded") && (strings.HasSuffix(lower, ".dll") || strings.HasSuffix(lower, ".so") || word == "XUL" ||
		word == "<name omitted>" || strings.HasPrefix(word, "<unknown in"))
}

// Sentinel returns the index of the first word that is a sentinel, or 0.
func (l *fileLists) Sentinel(words []string) int {
	for i, w := range words {
		if slices.Contains(l.sentinels, w) {
			return i
		}
	}
	return 0
}
