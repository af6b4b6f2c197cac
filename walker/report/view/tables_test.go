package view

import (
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// TestFindingsHaveTitles: every kind of finding has a title of its own on the page, and not its
// stable word.
func TestFindingsHaveTitles(t *testing.T) {
	titles := map[string]string{}
	for name, k := range enumtest.Strings[report.FindingKind](t, "..", "FindingKind") {
		title := findingTitle(k)
		if title == string(k) || titles[title] != "" {
			t.Errorf("the title of %s is %q, as of %q", name, title, titles[title])
		}
		titles[title] = name
	}
}

// TestSymbolStatesHaveRows: every state of a module's symbols has a word of its own and a place in
// the list's order. A state without one would be called "not needed", and be sorted first.
func TestSymbolStatesHaveRows(t *testing.T) {
	words, order := map[string]string{}, map[int]string{}
	states := enumtest.Strings[report.SymbolState](t, "..", "SymbolState")
	for name, s := range states {
		word := StateWord(s)
		if words[word] != "" {
			t.Errorf("the word of %s is %q, as of %s", name, word, words[word])
		}
		words[word] = name
		place, ok := stateOrder[s]
		if !ok || order[place] != "" {
			t.Errorf("%s has no place of its own in stateOrder: %d, as %q", name, place, order[place])
		}
		order[place] = name
	}
	if len(stateOrder) != len(states) {
		t.Errorf("stateOrder has %d states, there are %d", len(stateOrder), len(states))
	}
}

// TestTrustHasPageWords: every level of trust has a word of its own on the page and a sentence that
// explains it.
func TestTrustHasPageWords(t *testing.T) {
	words := map[string]string{}
	for name, v := range enumtest.Numbers[walker.Trust](t, "../..", "Trust") {
		word, sentence := rows.Word(v.String())
		if word == "unknown" || sentence == "" || words[word] != "" {
			t.Errorf("the word of %s is %q, as of %q; its sentence is %q", name, word, words[word], sentence)
		}
		words[word] = name
	}
}

// TestSourcesHavePageWords: every source that the walker asks has words of its own on the page, and
// not its stable word.
func TestSourcesHavePageWords(t *testing.T) {
	words := map[string]string{}
	for name, s := range enumtest.Strings[walker.Source](t, "../..", "Source") {
		if s == walker.SourceContext {
			continue // no caller was found by it
		}
		word := rows.SourceWord(string(s))
		if word == string(s) || words[word] != "" {
			t.Errorf("the words of %s are %q, as of %q", name, word, words[word])
		}
		words[word] = name
	}
}
