package textio

import (
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/decimal"
)

func TestEndLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "a\nb\r\nc\n": "a\nb\r\nc\n", "a\rb\r": "a\nb\n", "\r": "\n", "a\r\r\nb": "a\n\r\nb", "\r\n\r": "\r\n\n",
	} {
		text := []byte(in)
		if got := EndLines(text, 2); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if string(text) != in {
			t.Errorf("%q was changed to %q", in, text)
		}
	}
}

func TestIsSpace(t *testing.T) {
	for c := range 256 {
		if got, want := IsSpace(byte(c)), strings.IndexByte(" \t\n\v\f\r", byte(c)) >= 0; got != want {
			t.Errorf("0x%02x: %v", c, got)
		}
	}
}

func TestUnended(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 3, "1\n": 0, "1\n2": 4, "1\r\n2 ": 4, "1\n2\r": 0, "1\n\n": 0} {
		if got := Unended([]byte(text), 3); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestStatsOf(t *testing.T) {
	pieces := []Piece{{0, []byte("1\n2\n"), 7, 2}, {1, []byte("3\n4\n5\n"), 9, 3}, {2, []byte("6\n7"), 12, 1}}
	losses := make([]Losses, len(pieces))
	if s := StatsOf(pieces, losses); s != (Stats{}) {
		t.Errorf("%+v of nothing", s)
	}
	losses[0].Add(decimal.Kept, 0)
	losses[1].Add(decimal.ToInf, 4)
	losses[1].Add(decimal.ToInf, 2) // earlier in the text
	losses[2].Add(decimal.ToInf, 0)
	losses[2].Add(decimal.ToZero, 2)
	want := Stats{ToInf: Lost{Count: 3, Line: 10}, ToZero: Lost{Count: 1, Line: 13}}
	if s := StatsOf(pieces, losses); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
