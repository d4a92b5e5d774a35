package reproduce

import "bytes"

// Curves is a picture of measurements: marks joined by lines over logarithmic axes. The documents
// show such pictures in the style of the reports.
type Curves struct {
	Title, X, Y string
	Panels      []CurvesPanel // side by side, with the same axes and one legend
}

// CurvesPanel is a part of a picture.
type CurvesPanel struct {
	Title  string
	Series []Series
}

// Series is a line. Lines with one name look alike and have one entry in the legend. A line with a
// single point is a mark.
type Series struct {
	Name   string
	Points [][2]float64 // x, y > 0
	// Colour is the number of the line's colour, from 1 to 7. Lines of one colour have different
	// marks and dashes. Without a colour (0), the line has a style of its own.
	Colour int
}

// SVG draws the picture.
func (c *Curves) SVG() ([]byte, error) {
	f := figure{title: c.Title, kind: curves, xLabel: c.X, yLabel: c.Y}
	chosen := map[string]int{} // styles by the names of lines
	used := map[int]bool{}
	for _, p := range c.Panels {
		q := panel{title: p.Title}
		for _, s := range p.Series {
			k, known := chosen[s.Name]
			if !known {
				k = unused(used, s.Colour)
				chosen[s.Name], used[k] = k, true
			}
			q.lines = append(q.lines, line{name: s.Name, style: k, points: s.Points})
		}
		f.panels = append(f.panels, q)
	}
	var b bytes.Buffer
	err := f.write(&b, "svg")
	return b.Bytes(), err
}

// unused returns the first style that no line has yet, of the colour with that number, or of any
// colour for 0.
func unused(used map[int]bool, colour int) int {
	first, step := 0, 1
	if colour > 0 {
		first, step = colour-1, colours
	}
	for k := first; ; k += step {
		if !used[k] {
			return k
		}
	}
}
