package rows

// PlaceRow is a place in the process that a text may mean: a function, a module, an address. Note says
// where that is, or what is there. Address is in hexadecimal, with "0x".
type PlaceRow struct{ Title, Note, Address string }
