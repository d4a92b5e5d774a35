package reproduce

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// checkPlots checks the layout of every figure of a report.
func checkPlots(t *testing.T, r *Report) {
	t.Helper()
	if len(r.plots) == 0 {
		t.Error("no plots")
	}
	for i := range r.plots {
		checkLayout(t, &r.plots[i])
	}
}

func checkLayout(t *testing.T, f *figure) {
	t.Helper()
	l := f.layout()
	canvas := vg.Rectangle{Max: l.size}
	inside := func(what string, r vg.Rectangle) {
		if r.Min.X < 0 || r.Min.Y < 0 || r.Max.X > canvas.Max.X || r.Max.Y > canvas.Max.Y {
			t.Errorf("%s: %s lies at %v, the canvas is %v", f.name, what, r, canvas)
		}
	}
	var boxes []vg.Rectangle
	titles := map[float64][]string{}
	for _, x := range l.texts {
		inside(x.text, x.box())
		boxes = append(boxes, x.box())
		if x.what == panelTitle {
			y := math.Round(x.at.Y.Points())
			titles[y] = append(titles[y], x.text)
		}
	}
	for _, e := range l.legend {
		inside("the sample of a style", e.box)
		boxes = append(boxes, e.box)
	}
	for i, p := range l.panels {
		inside(p.title, p.data)
		boxes = append(boxes, p.data)
		// Titles of a row have the same height above it.
		for _, q := range l.panels[:i] {
			if q.data.Min.Y == p.data.Min.Y && q.data.Max.Y != p.data.Max.Y {
				t.Errorf("%s: panels of a row end at %v and %v", f.name, q.data.Max.Y, p.data.Max.Y)
			}
		}
	}
	const overlap = 1 // points that texts may touch each other
	for i, a := range boxes {
		for _, b := range boxes[:i] {
			if min(a.Max.X, b.Max.X)-max(a.Min.X, b.Min.X) > overlap && min(a.Max.Y, b.Max.Y)-max(a.Min.Y, b.Min.Y) > overlap {
				t.Errorf("%s: %v and %v overlap", f.name, a, b)
			}
		}
	}
	for _, a := range []*axis{&l.x, &l.y} {
		checkAxis(t, f, a)
	}
	if f.kind != bars && f.kind != stacked && f.xNames != nil {
		t.Errorf("%s: categories are joined", f.name)
	}
	looks := map[int]string{}
	seen := map[string]int{}
	for _, p := range l.panels {
		here := map[int]string{}
		for _, k := range p.lines {
			if k.style >= len(styles) {
				t.Errorf("%s: %s has style %d of %d", f.name, k.name, k.style, len(styles))
			}
			if old, ok := here[k.style]; ok {
				t.Errorf("%s, %s: %s looks like %s", f.name, p.title, k.name, old)
			}
			here[k.style] = k.name
			if old, ok := seen[k.name]; ok && old != k.style {
				t.Errorf("%s: %s has styles %d and %d", f.name, k.name, old, k.style)
			}
			seen[k.name] = k.style
			if old, ok := looks[k.style]; ok && old != k.name {
				t.Errorf("%s: %s and %s have one style", f.name, k.name, old)
			}
			looks[k.style] = k.name
		}
	}
	if len(l.legend) != len(seen) {
		t.Errorf("%s: a legend of %d entries for %d lines", f.name, len(l.legend), len(seen))
	}
}

// checkAxis checks that the ticks can be read.
func checkAxis(t *testing.T, f *figure, a *axis) {
	t.Helper()
	labels := labelled(a.ticks)
	for _, k := range a.ticks {
		if at := a.at(k.value); at < -1e-9 || at > 1+1e-9 {
			t.Errorf("%s: the tick %q is at %g", f.name, k.label, at)
		}
	}
	switch {
	case len(values(f.shown(), 0)) == 0: // nothing was measured
	case a.categories != nil:
		if len(a.ticks) != len(a.categories) {
			t.Errorf("%s: %d categories, %d ticks", f.name, len(a.categories), len(a.ticks))
		}
	case a.log && (labels < 3 || labels > 11):
		t.Errorf("%s: the axis %q from %g to %g has %d labels", f.name, a.label, a.lo, a.hi, labels)
	case labels == 0 || labels > 11:
		t.Errorf("%s: the axis %q has %d labels", f.name, a.label, labels)
	}
	if a.label == "" {
		t.Errorf("%s: an axis without a label", f.name)
	}
}

// contrast is the ratio of luminances on white, by WCAG 2.
func contrast(c color.RGBA) float64 {
	linear := func(x uint8) float64 {
		v := float64(x) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 1.05 / (0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B) + 0.05)
}

// TestStyles: every style is visible on white, and differs from the others without colours.
func TestStyles(t *testing.T) {
	marks, dashes, hatches := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, s := range styles {
		if c := contrast(s.colour); c < 3 {
			t.Errorf("style %d: contrast %.2f on white", i, c)
		}
		marks[fmt.Sprintf("%#v", s.mark)] = true
		dashes[fmt.Sprint(s.dashes)] = true
		hatches[fmt.Sprintf("%+v", s.hatch)] = true
	}
	if n := len(styles); len(marks) != n || len(dashes) != n || len(hatches) != n {
		t.Errorf("%d styles have %d marks, %d dashes, %d hatchings", n, len(marks), len(dashes), len(hatches))
	}
	if yellow := contrast(color.RGBA{240, 228, 66, 255}); yellow > 1.5 {
		t.Errorf("yellow has a contrast of %g", yellow)
	}
}

// TestAxes: figures of all kinds and ranges can be read.
func TestAxes(t *testing.T) {
	long := strings.Repeat("a long title of many words ", 8)
	for _, ys := range [][]float64{{3}, {10}, {1e-300, 1e300}, {0.1, 0.11}, {0, 1e-16, 0.5}, {0}, {7e4, 2e6}, {math.Inf(1), 2}, {math.NaN()}} {
		for _, xs := range [][]float64{{128}, {128, 256}, {30, 60, 120, 240, 480}, {1, 1.01, 1.02, 1.03, 1000}} {
			for _, kind := range []figureKind{curves, dots, bars, stacked} {
				for _, linear := range []bool{false, true} {
					if linear && kind > dots {
						continue
					}
					for _, panels := range []int{1, 2, 5} {
						f := figure{name: fmt.Sprint(ys, xs, kind, linear, panels), title: long, kind: kind, yLabel: "ms", xLinear: linear}
						for i := range panels {
							p := panel{title: strings.Repeat("word ", 3+10*i)}
							for s := range 1 + 3*i {
								k := line{name: fmt.Sprintf("line %d", s), style: s}
								for j, x := range xs {
									k.points = append(k.points, [2]float64{x, ys[j%len(ys)]})
								}
								p.lines = append(p.lines, k)
							}
							f.panels = append(f.panels, p)
						}
						checkLayout(t, &f)
					}
				}
			}
		}
	}
	// A wide legend widens the canvas; figures without any points are drawn, too.
	wide := figure{name: "wide", title: "t", yLabel: "ms", panels: []panel{{"p", []line{{long, 0, [][2]float64{{1, 1}}}}}}}
	checkLayout(t, &wide)
	checkLayout(t, &figure{name: "empty", title: "t", yLabel: "ms", panels: []panel{{"p", nil}}})
	names := figure{name: "names", kind: bars, title: "t", xLabel: "x", yLabel: "ms", xNames: []string{"native, partial pivoting", "exact, zero pivots alone", "c"},
		panels: []panel{{"p", []line{{"l", 0, [][2]float64{{1, 1}, {3, 5}}}}}}}
	checkLayout(t, &names)
	if a := names.xAxis(names.shown()); a.at(1) != 1.0/6 || a.at(3) != 5.0/6 {
		t.Errorf("categories at %g and %g", a.at(1), a.at(3))
	}
}

// TestDecades checks ticks.
func TestDecades(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{3, 4, "1 2 5 10"},
		{30000, 70000, "1e4 2e4 5e4 1e5"},
		{0.5, 60, "0.1 1 10 100"},
		{1e-16, 1e-2, "1e-16 1e-14 1e-12 1e-10 1e-8 1e-6 1e-4 1e-2"},
		{1e3, 1e8, "1e3 1e4 1e5 1e6 1e7 1e8"},
	} {
		var a axis
		a.decades(c.lo, c.hi)
		var got []string
		for _, k := range a.ticks {
			if k.label != "" {
				got = append(got, k.label)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("ticks from %g to %g: %s, want %s", c.lo, c.hi, s, c.want)
		}
		if a.lo > c.lo || a.hi < c.hi {
			t.Errorf("[%g, %g] is not in [%g, %g]", c.lo, c.hi, a.lo, a.hi)
		}
	}
}

// TestHatching: lines of a hatching cross all of a bar.
func TestHatching(t *testing.T) {
	r := vg.Rectangle{Min: vg.Point{X: 10, Y: 20}, Max: vg.Point{X: 30, Y: 90}}
	for _, k := range []slope{rising, falling, level, upright} {
		const spacing = 4
		list := k.lines(r, spacing)
		want := map[slope]int{rising: 16, falling: 16, level: 18, upright: 5}[k]
		if n := len(list); n < want-1 || n > want+1 {
			t.Errorf("slope %d: %d lines, want %d", k, n, want)
		}
		up := list[0][1].Sub(list[0][0])
		if (up.X > 0) != (k == rising || k == level) || (up.Y > 0) != (k != level) {
			t.Errorf("slope %d: %v", k, up)
		}
	}
	if slices.Contains([]color.RGBA{blue, black}, tint(blue)) || contrast(tint(black)) > 2 {
		t.Error("tints are not light")
	}
}

// TestFonts: an SVG file names fonts that viewers have, for every text.
func TestFonts(t *testing.T) {
	f := figure{name: "x", title: "title", yLabel: "y", kind: bars, panels: []panel{{title: "panel", lines: []line{{"a", 0, [][2]float64{{1, 2}, {2, 3}}}}}}}
	var b bytes.Buffer
	if err := f.write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	texts := strings.Count(b.String(), "<text ")
	if n := strings.Count(b.String(), ",sans-serif;"); texts == 0 || n != texts {
		t.Errorf("%d of %d texts have a font that every viewer has", n, texts)
	}
}
