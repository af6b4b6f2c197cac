package batch

// Group is the dumps with one signature.
type Group struct {
	Signature string
	Dumps     int
	// First and Last are the times of the earliest and the latest dump, in seconds since 1970, UTC; 0
	// if none of the dumps has a time.
	First, Last uint32
	// Versions is how many versions of the program the dumps are of. Reason and Process are those of one
	// of the dumps.
	Versions        int
	Reason, Process string
}
