package symfile

import "sort"

// sortFew sorts a short list, keeping equal ones in their order. slices.SortStableFunc would be compiled anew for each type, and
// each copy is kilobytes of program that the page has to fetch; only the big lists of the index are worth that.
func sortFew[T any](s []T, order func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return order(s[i], s[j]) < 0 })
}

// insert puts v into a list, before the element at. slices.Insert can do more, and is four times as long for each type.
func insert[T any](list []T, at int, v T) []T {
	list = append(list, v)
	copy(list[at+1:], list[at:])
	list[at] = v
	return list
}
