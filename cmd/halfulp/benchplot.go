package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
)

// plotLine is a line of the picture: times over sizes or precisions.
type plotLine struct {
	name   string
	points [][2]float64
}

// plotLines returns the lines of cases, and the quantity of their horizontal axis.
func plotLines(cases []benchCase) (lines []plotLine, axis string) {
	var sizes []int
	devices := map[string]bool{}
	for _, c := range cases {
		if !slices.Contains(sizes, c.N) {
			sizes = append(sizes, c.N)
		}
		devices[c.Device] = true
	}
	axis = "n"
	if len(sizes) == 1 {
		axis = "bits"
	}
	for _, c := range cases {
		if c.Median == 0 {
			continue
		}
		name, at := c.Operation, float64(c.N)
		if axis == "bits" {
			f, err := halfulp.ParseFormat(c.Format)
			if err != nil {
				continue // only in a file that halfulp has not written
			}
			at = float64(f.Bits())
		} else {
			name += " " + c.Format
		}
		if len(devices) > 1 {
			name += " " + c.Device
		}
		k := slices.IndexFunc(lines, func(l plotLine) bool { return l.name == name })
		if k < 0 {
			k = len(lines)
			lines = append(lines, plotLine{name: name})
		}
		lines[k].points = append(lines[k].points, [2]float64{at, c.Median.Seconds()})
	}
	for _, l := range lines {
		slices.SortFunc(l.points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	}
	return lines, axis
}

// logAxis is a logarithmic axis from the value at low to the one at high, between two places.
type logAxis struct{ low, high, from, to float64 }

// newLogAxis returns an axis that contains all values.
func newLogAxis(values []float64, from, to float64) logAxis {
	low, high := slices.Min(values), slices.Max(values)
	return logAxis{low / 1.3, high * 1.3, from, to}
}

func (a logAxis) at(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// ticks returns powers of ten within the axis, and where these are few, also 2 and 5 times each.
func (a logAxis) ticks() []float64 {
	steps := []float64{1}
	if a.high/a.low < 1000 {
		steps = []float64{1, 2, 5}
	}
	var list []float64
	for e := math.Floor(math.Log10(a.low)); e <= math.Ceil(math.Log10(a.high)); e++ {
		for _, s := range steps {
			if v := s * math.Pow(10, e); v >= a.low && v <= a.high {
				list = append(list, v)
			}
		}
	}
	return list
}

// plotBench draws the median times of a run on logarithmic axes, as SVG.
func plotBench(w io.Writer, r benchReport) error {
	lines, axis := plotLines(r.Cases)
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.points {
			xs, ys = append(xs, p[0]), append(ys, p[1])
		}
	}
	if len(xs) == 0 {
		return fmt.Errorf("nothing to plot: no case was completed")
	}
	height := max(plotHeight, plotTop+plotLegend*len(lines)) // the legend fits
	x := newLogAxis(xs, plotLeft, plotWidth-plotRight)
	y := newLogAxis(ys, float64(height-plotBottom), plotTop)

	var b strings.Builder
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	line := func(x0, y0, x1, y1 float64, colour, dashes string) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="1.5" stroke-dasharray="%s"/>`+"\n", x0, y0, x1, y1, colour, dashes)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n", plotWidth, height, plotFont)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, height)
	for _, v := range x.ticks() {
		line(x.at(v), y.from, x.at(v), y.to, "#dddddd", "none")
		text(x.at(v), y.from+plotFont+5, "middle", fmt.Sprint(v))
	}
	for _, v := range y.ticks() {
		line(x.from, y.at(v), x.to, y.at(v), "#dddddd", "none")
		text(x.from-6, y.at(v)+plotFont/3., "end", time.Duration(math.Round(v*1e9)).String())
	}
	text((x.from+x.to)/2, y.from+3*plotFont, "middle", axis)
	text(x.from, y.to-10, "start", "median time, "+r.CPU)
	for i, l := range lines {
		colour, dashes := plotColours[i%len(plotColours)], plotDashes[i/len(plotColours)%len(plotDashes)]
		for k, p := range l.points {
			if k > 0 {
				q := l.points[k-1]
				line(x.at(q[0]), y.at(q[1]), x.at(p[0]), y.at(p[1]), colour, dashes)
			}
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s"/>`+"\n", x.at(p[0]), y.at(p[1]), plotMark, colour)
		}
		at := float64(plotTop + plotLegend*i)
		line(x.to+10, at, x.to+10+plotSample, at, colour, dashes)
		text(x.to+16+plotSample, at+plotFont/3., "start", l.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
