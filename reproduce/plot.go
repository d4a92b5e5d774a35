package reproduce

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// may fuse throughout: pictures, none of them a result.

// figure is a picture: panels with the same axes under one title, and one legend for all of them.
type figure struct {
	name, title    string
	kind           figureKind
	xLabel, yLabel string   // xLabel "" for the precision
	xLinear        bool     // the x axis of curves and dots; it is logarithmic otherwise
	xDecades       bool     // its ticks are round numbers, not the values that occur
	xNames         []string // of the categories 1, 2, ... of bars; nil: the values that occur
	panels         []panel  // panels without points are left out
}

// figureKind is how the points of a line are drawn.
type figureKind int

// The kinds of figures. The y axis is logarithmic, except in stacked figures.
const (
	curves  figureKind = iota // marks, joined in the order of the points
	dots                      // marks alone
	bars                      // groups of bars, one group for each x, one bar for each line
	stacked                   // one bar for each x, of the lines' shares from 0 to 100 %
)

// precisionLabel is the default label of x axes.
const precisionLabel = "precision, bits"

// label is the label of the x axis.
func (f *figure) label() string {
	if f.xLabel == "" {
		return precisionLabel
	}
	return f.xLabel
}

// panel is a part of a figure. A panel never shows both figures measured here and figures that a
// paper measured with another size.
type panel struct {
	title string
	lines []line
}

// line is a series of a panel: points (x, y), drawn in a style of styles. Lines of the same name
// have the same style and one entry in the legend.
type line struct {
	name   string
	style  int
	points [][2]float64
}

// write draws the figure as "png" or "svg".
func (f *figure) write(w io.Writer, kind string) error {
	l := f.layout()
	var c vg.CanvasWriterTo
	switch kind {
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(l.size.X, l.size.Y), vgimg.UseDPI(dotsPerInch))}
	case "svg":
		c = vgsvg.New(l.size.X, l.size.Y)
	default:
		return fmt.Errorf("plots are png or svg, not %q", kind)
	}
	l.draw(draw.New(c))
	if kind != "svg" {
		_, err := c.WriteTo(w)
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := svgFonts.WriteString(w, b.String())
	return err
}

// svgFonts adds fonts of the same widths as the font of the layout, for viewers that do not have
// it, and removes properties with default values.
var svgFonts = strings.NewReplacer("font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;",
	"font-family:Liberation Sans,Arial,Helvetica,sans-serif;")

// axis maps values to [0, 1].
type axis struct {
	label      string
	log        bool
	lo, hi     float64
	zero       float64 // where zeros of a logarithmic axis lie, below least; 0: there are none
	least      float64
	categories []float64
	ticks      []tick
}

// tick is a mark of an axis; a tick with a label has a line across the panel.
type tick struct {
	value float64
	label string
}

// at returns the place of a value.
func (a *axis) at(v float64) float64 {
	if a.categories != nil {
		return (float64(slices.Index(a.categories, v)) + 0.5) / float64(len(a.categories))
	}
	if !a.log {
		return (v - a.lo) / (a.hi - a.lo)
	}
	if v <= 0 {
		v = a.zero
	}
	lo := math.Log(a.lo)
	return (math.Log(v) - lo) / (math.Log(a.hi) - lo)
}

// shown returns the panels with points, or one panel if none has points.
func (f *figure) shown() []panel {
	var list []panel
	for _, p := range f.panels {
		var lines []line
		for _, l := range p.lines {
			l.points = slices.DeleteFunc(slices.Clone(l.points), func(p [2]float64) bool { return math.IsNaN(p[1]) || math.IsInf(p[1], 0) })
			if len(l.points) > 0 {
				lines = append(lines, l)
			}
		}
		if lines != nil {
			list = append(list, panel{p.title, lines})
		}
	}
	if list == nil {
		return []panel{{title: "nothing was measured"}}
	}
	return list
}

// values returns the values that occur on an axis, 0 for x and 1 for y, sorted.
func values(panels []panel, which int) []float64 {
	var list []float64
	for _, p := range panels {
		for _, l := range p.lines {
			for _, point := range l.points {
				list = append(list, point[which])
			}
		}
	}
	return sorted(list)
}

// xAxis is the axis of all panels.
func (f *figure) xAxis(panels []panel) axis {
	list := values(panels, 0)
	a := axis{label: f.label(), log: !f.xLinear}
	switch {
	case len(list) == 0:
		a.lo, a.hi = 1, 2
	case f.xNames != nil:
		for i, name := range f.xNames {
			x := float64(i + 1)
			a.categories = append(a.categories, x)
			a.ticks = append(a.ticks, tick{x, name})
		}
	case f.kind == bars || f.kind == stacked:
		a.categories = list
		for _, x := range list {
			a.ticks = append(a.ticks, tick{x, number(x)})
		}
	case f.xLinear:
		a.lo, a.hi = list[0]-0.5, list[len(list)-1]+0.5
		step := roundStep((a.hi - a.lo) / 10)
		for x := math.Ceil(a.lo/step) * step; x <= a.hi; x += step {
			a.ticks = append(a.ticks, tick{x, number(x)})
		}
	case f.xDecades:
		a.decades(list[0], list[len(list)-1])
	default:
		for len(list) < 3 { // ticks that make a logarithmic axis readable
			list = append([]float64{list[0] / 2}, append(list, 2*list[len(list)-1])...)
		}
		for _, x := range list {
			a.ticks = append(a.ticks, tick{x, number(x)})
		}
		a.lo, a.hi = list[0]/1.15, list[len(list)-1]*1.15
	}
	return a
}

// roundStep returns the least of 1, 2, 5, 10, 20, ... that is at least x.
func roundStep(x float64) float64 {
	for step := 1.0; ; step *= 10 {
		for _, k := range []float64{1, 2, 5} {
			if k*step >= x {
				return k * step
			}
		}
	}
}

// yAxis is the axis of all panels.
func (f *figure) yAxis(panels []panel) axis {
	a := axis{label: f.yLabel, log: f.kind != stacked}
	if f.kind == stacked {
		a.hi = 100
		for x := 0.0; x <= a.hi; x += 20 {
			a.ticks = append(a.ticks, tick{x, number(x)})
		}
		return a
	}
	list := values(panels, 1)
	zeros := 0
	for zeros < len(list) && list[zeros] <= 0 {
		zeros++
	}
	lo, hi := 1.0, 10.0
	if positive := list[zeros:]; len(positive) > 0 {
		lo, hi = positive[0], positive[len(positive)-1]
	}
	if f.kind == bars {
		lo /= 1.5 // no bar is without height
	}
	a.decades(lo, hi)
	if zeros > 0 {
		// Zeros have a place of their own below, off the scale.
		a.least = a.lo
		a.lo /= math.Pow(10, max(1, math.Round((math.Log10(a.hi)-math.Log10(a.lo))/10)))
		a.zero = a.lo
		a.ticks = append(a.ticks, tick{a.zero, "0"})
	}
	return a
}

// decades makes an axis of whole powers of ten that holds [lo, hi], with at least three labels.
func (a *axis) decades(lo, hi float64) {
	const most = 8 // labels, about
	least, greatest := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	greatest = max(greatest, least+1)
	span := greatest - least
	step := (span + most - 1) / most
	a.lo, a.hi = power(least), power(greatest)
	var labels []int
	for e := least; e <= greatest; e++ {
		t := tick{value: power(e)}
		if e%step == 0 {
			labels = append(labels, e)
			t.label = "e" // see below
		}
		a.ticks = append(a.ticks, t)
		for k := 2; k < 10 && e < greatest && span <= 4; k++ {
			t := tick{value: float64(k) * power(e)}
			if span == 1 && (k == 2 || k == 5) {
				t.label = "e"
			}
			a.ticks = append(a.ticks, t)
		}
	}
	plain := labels[0] >= -3 && labels[len(labels)-1] <= 4
	for i := range a.ticks {
		t := &a.ticks[i]
		switch {
		case t.label == "":
		case plain || t.value == 1:
			t.label = number(t.value)
		default:
			e := math.Floor(math.Log10(t.value) + 1e-9)
			t.label = fmt.Sprintf("%.0fe%.0f", t.value/math.Pow(10, e), e)
		}
	}
}

// power is 10^e, rounded to nearest.
func power(e int) float64 {
	x, err := strconv.ParseFloat(fmt.Sprintf("1e%d", e), 64)
	if err != nil {
		panic(err)
	}
	return x
}

// number is the shortest text of a value of an axis.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Sizes of a figure. Two panels side by side are as wide as a page.
const (
	dataWidth   = 7 * vg.Centimeter
	dataHeight  = 6 * vg.Centimeter
	margin      = 2 * vg.Millimeter
	gap         = 4 * vg.Millimeter // between panels
	tickLength  = 1.2 * vg.Millimeter
	thumbWidth  = 1 * vg.Centimeter
	thumbHeight = 3 * vg.Millimeter
	titleSize   = 12 // points
	textSize    = 9
	columns     = 2 // of panels, at most
	dotsPerInch = 140
)

// layout has the places of the parts of a figure, from the lower left corner of the canvas.
type layout struct {
	size   vg.Point
	kind   figureKind
	x, y   axis
	texts  []textAt // titles, labels and names
	panels []placedPanel
	legend []legendEntry
}

// textAt is a line of text. at is its lower left corner, for upright text its upper left corner.
type textAt struct {
	text    string
	at      vg.Point
	size    vg.Length
	upright bool
	what    textKind
}

// textKind is the purpose of a text.
type textKind int

const (
	figureTitle textKind = iota
	panelTitle
	axisLabel
	tickLabel
	legendName
)

// placedPanel is a panel with the place of its data.
type placedPanel struct {
	panel
	data vg.Rectangle
}

// legendEntry is the place of a sample of a style.
type legendEntry struct {
	style int
	box   vg.Rectangle
}

// lineHeight is the height of a line of text of a size.
func lineHeight(size vg.Length) vg.Length { return 1.25 * size }

// box returns the rectangle of a text.
func (t *textAt) box() vg.Rectangle {
	w, h := textWidthOf(t.text, t.size), t.size
	if t.upright {
		return vg.Rectangle{Min: vg.Point{X: t.at.X - h, Y: t.at.Y}, Max: vg.Point{X: t.at.X, Y: t.at.Y + w}}
	}
	return vg.Rectangle{Min: t.at, Max: vg.Point{X: t.at.X + w, Y: t.at.Y + h}}
}

// fold breaks a text into lines of a width, unless its words are wider.
func fold(text string, size, width vg.Length) []string {
	if text == "" {
		return nil
	}
	var lines []string
	last := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimSpace(last + " " + word)
		if last != "" && textWidthOf(longer, size) > width {
			lines = append(lines, last)
			longer = word
		}
		last = longer
	}
	return append(lines, last)
}

// layout finds the places of the parts.
func (f *figure) layout() *layout {
	panels := f.shown()
	l := &layout{kind: f.kind, x: f.xAxis(panels), y: f.yAxis(panels)}
	var labels vg.Length // width of the labels of ticks
	for _, t := range l.y.ticks {
		labels = max(labels, textWidthOf(t.label, textSize))
	}
	left := lineHeight(textSize) + labels + tickLength + margin
	width := l.dataWidth(panels)
	names := make([][]string, len(l.x.ticks)) // labels of ticks, in lines
	below := 0
	for i, t := range l.x.ticks {
		names[i] = []string{t.label}
		if t.label == "" {
			names[i] = nil
		} else if l.x.categories != nil {
			names[i] = fold(t.label, textSize, width/vg.Length(len(l.x.ticks))-2)
		}
		below = max(below, len(names[i]))
	}
	if l.x.categories == nil {
		if l.thin(width); l.x.log && labelled(l.x.ticks) < 3 {
			l.x.ticks = nil
			l.x.decades(l.x.lo, l.x.hi)
			l.thin(width)
			names = make([][]string, len(l.x.ticks))
		}
		for i, t := range l.x.ticks {
			names[i] = []string{t.label} // "" where it was removed
		}
	}
	tile := left + width + gap
	bottom := tickLength + vg.Length(below+1)*lineHeight(textSize)
	cols := min(columns, len(panels))
	rows := (len(panels) + cols - 1) / cols
	entries, entryWidth := legendOf(panels)
	l.size.X = max(2*margin+vg.Length(cols)*tile, 2*margin+entryWidth)

	// The legend is where a panel could be, or below them.
	titles := fold(f.title, titleSize, l.size.X-2*margin)
	hole := len(panels)%cols > 0 && entryWidth <= tile-left && lineHeight(textSize)*vg.Length(len(entries)) <= dataHeight
	down := len(entries)
	if !hole {
		across := max(1, int((l.size.X-2*margin)/max(entryWidth, 1)))
		down = (len(entries) + across - 1) / across
	}

	// From the top, which is 0, downwards; moved up at the end.
	y := -margin
	for _, t := range titles {
		y -= lineHeight(titleSize)
		l.text(t, vg.Point{X: l.size.X / 2, Y: y}, titleSize, 0.5, figureTitle)
	}
	y -= margin
	var legend vg.Point
	for row := range rows {
		in := panels[row*cols : min((row+1)*cols, len(panels))]
		folded, most := make([][]string, len(in)), 0
		for i, p := range in {
			folded[i] = fold(p.title, textSize+1, width)
			most = max(most, len(folded[i]))
		}
		top := y - vg.Length(most)*lineHeight(textSize+1) - margin
		for i, p := range in {
			x := margin + vg.Length(i)*tile + left
			for j, t := range folded[i] {
				l.text(t, vg.Point{X: x + width/2, Y: y - vg.Length(j+1)*lineHeight(textSize+1)}, textSize+1, 0.5, panelTitle)
			}
			data := vg.Rectangle{Min: vg.Point{X: x, Y: top - dataHeight}, Max: vg.Point{X: x + width, Y: top}}
			l.panels = append(l.panels, placedPanel{p, data})
			l.axisTexts(data, labels, names)
		}
		legend = vg.Point{X: margin + vg.Length(len(in))*tile + left, Y: top}
		y = top - dataHeight - bottom - gap
	}
	if !hole {
		legend = vg.Point{X: margin, Y: y}
		y -= lineHeight(textSize) * vg.Length(down)
	}
	l.placeLegend(entries, legend, entryWidth, down)
	l.size.Y = margin - y
	l.raise(l.size.Y)
	return l
}

// dataWidth is the width of the data of a panel: bars need some.
func (l *layout) dataWidth(panels []panel) vg.Length {
	const least = 4 // points of a bar
	most := 1
	if l.kind == bars {
		for _, p := range panels {
			most = max(most, len(p.lines))
		}
	}
	return max(dataWidth, vg.Points(least)*vg.Length((most+1)*len(l.x.categories)))
}

// thin removes labels of ticks for which others leave no space.
func (l *layout) thin(width vg.Length) {
	end := vg.Length(math.Inf(-1))
	for i := range l.x.ticks {
		t := &l.x.ticks[i]
		if t.label == "" {
			continue
		}
		w := textWidthOf(t.label, textSize)
		at := vg.Length(l.x.at(t.value)) * width
		if at-w/2 < end+3 {
			t.label = ""
			continue
		}
		end = at + w/2
	}
}

// labelled is the number of ticks that have a label.
func labelled(ticks []tick) int {
	n := 0
	for _, t := range ticks {
		if t.label != "" {
			n++
		}
	}
	return n
}

// text adds a text; align is the share of its width on the left of the place.
func (l *layout) text(text string, at vg.Point, size, align vg.Length, what textKind) {
	at.X -= align * textWidthOf(text, size)
	l.texts = append(l.texts, textAt{text: text, at: at, size: size, what: what})
}

// axisTexts adds the labels of a panel's axes.
func (l *layout) axisTexts(data vg.Rectangle, labels vg.Length, names [][]string) {
	below := 0
	for i, t := range l.x.ticks {
		at := vg.Point{X: data.Min.X + vg.Length(l.x.at(t.value))*data.Size().X, Y: data.Min.Y - tickLength}
		for _, s := range names[i] {
			at.Y -= lineHeight(textSize)
			if s != "" {
				l.text(s, at, textSize, 0.5, tickLabel)
			}
		}
		below = max(below, len(names[i]))
	}
	y := data.Min.Y - tickLength - vg.Length(below+1)*lineHeight(textSize)
	l.text(l.x.label, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: y}, textSize, 0.5, axisLabel)
	for _, t := range l.y.ticks {
		if t.label != "" {
			at := vg.Point{X: data.Min.X - tickLength - margin/2, Y: data.Min.Y + vg.Length(l.y.at(t.value))*data.Size().Y - textSize/2}
			l.text(t.label, at, textSize, 1, tickLabel)
		}
	}
	l.texts = append(l.texts, textAt{
		text: l.y.label, size: textSize, upright: true, what: axisLabel,
		at: vg.Point{X: data.Min.X - tickLength - margin - labels, Y: (data.Min.Y+data.Max.Y)/2 - textWidthOf(l.y.label, textSize)/2},
	})
}

// legendOf returns the names of the panels' lines with their styles, and the width of the widest.
func legendOf(panels []panel) (entries []line, width vg.Length) {
	for _, p := range panels {
		for _, l := range p.lines {
			if !slices.ContainsFunc(entries, func(k line) bool { return k.name == l.name }) {
				entries = append(entries, line{name: l.name, style: l.style})
				width = max(width, thumbWidth+2*margin+textWidthOf(l.name, textSize)+gap)
			}
		}
	}
	return entries, width
}

// placeLegend puts the entries in columns of down entries.
func (l *layout) placeLegend(entries []line, at vg.Point, width vg.Length, down int) {
	for i, e := range entries {
		corner := vg.Point{X: at.X + vg.Length(i/down)*width, Y: at.Y - vg.Length(i%down+1)*lineHeight(textSize)}
		box := vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: thumbWidth, Y: thumbHeight})}
		l.legend = append(l.legend, legendEntry{e.style, box})
		l.text(e.name, vg.Point{X: box.Max.X + margin, Y: corner.Y}, textSize, 0, legendName)
	}
}

// raise moves everything up.
func (l *layout) raise(by vg.Length) {
	up := vg.Point{Y: by}
	for i := range l.texts {
		l.texts[i].at = l.texts[i].at.Add(up)
	}
	for i := range l.panels {
		l.panels[i].data = l.panels[i].data.Add(up)
	}
	for i := range l.legend {
		l.legend[i].box = l.legend[i].box.Add(up)
	}
}
