package market

import "github.com/halfulp/halfulp/internal/textio"

// A Text is whole lines of an array file.
type Text struct {
	Pieces  []textio.Piece
	Counts  []int64 // of the entries of each
	Entries int
	Lines   int // line feeds
	Last    int // the number of the last line that is not blank, 1 being the first; 0 for none
}

// Shift says that so many lines stand before the text.
func (t *Text) Shift(n int) {
	for i := range t.Pieces {
		t.Pieces[i].Line += n
	}
}
