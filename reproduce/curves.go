package reproduce

import (
	"bytes"
	"slices"
)

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

// Series is a line. Lines with one name look alike and have one entry in the legend.
type Series struct {
	Name   string
	Points [][2]float64 // x, y > 0
}

// SVG draws the picture.
func (c *Curves) SVG() ([]byte, error) {
	f := figure{title: c.Title, kind: curves, xLabel: c.X, yLabel: c.Y}
	var names []string
	for _, p := range c.Panels {
		q := panel{title: p.Title}
		for _, s := range p.Series {
			k := slices.Index(names, s.Name)
			if k < 0 {
				k = len(names)
				names = append(names, s.Name)
			}
			q.lines = append(q.lines, line{name: s.Name, style: k, points: s.Points})
		}
		f.panels = append(f.panels, q)
	}
	var b bytes.Buffer
	err := f.write(&b, "svg")
	return b.Bytes(), err
}
