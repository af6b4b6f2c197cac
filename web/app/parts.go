package app

// Parts of the screen, as bits: those whose data is to be asked for.
const (
	partSummary = 1 << iota
	partThreads
	partStack
	partFrame
	partModules
	partWanted
	partFiles
	partGrid
	partContent
	partSystem
	partCompare
	partFound

	partsAll = partSummary | partThreads | partStack | partFrame | partModules | partWanted | partFiles |
		partGrid | partContent | partSystem | partCompare | partFound
)
