package reproduce

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// may fuse throughout: pictures, none of them a result.

// style is the look of a line. Each style differs from the others in its mark, its dashes and its
// hatching, so that figures can be read without colours.
type style struct {
	colour color.RGBA
	mark   draw.GlyphDrawer
	dashes []vg.Length // nil: no gaps
	hatch  hatch       // of bars
}

// hatch fills a bar: all of it, or a tint under lines of some slopes.
type hatch struct {
	solid, tint bool
	spacing     vg.Length
	slopes      []slope
}

// slope is the direction of lines of a hatching.
type slope int

const (
	rising slope = iota
	falling
	level
	upright
)

// Colours that are visible on white (a contrast of at least 3) and that the colour-blind can tell
// apart, after the colours of Okabe and Ito.
var (
	blue      = color.RGBA{0, 104, 168, 255}
	vermilion = color.RGBA{213, 84, 0, 255}
	green     = color.RGBA{0, 134, 98, 255}
	purple    = color.RGBA{178, 79, 140, 255}
	black     = color.RGBA{0, 0, 0, 255}
	brown     = color.RGBA{150, 98, 0, 255}
	sky       = color.RGBA{30, 137, 190, 255}
)

// colours is the number of colours. Styles whose numbers differ by it have the same colour.
const colours = 7

// styles are the looks of lines.
var styles = []style{
	{blue, draw.CircleGlyph{}, nil, hatch{solid: true}},
	{vermilion, draw.SquareGlyph{}, []vg.Length{7, 2}, hatch{tint: true, spacing: 4, slopes: []slope{rising}}},
	{green, draw.PyramidGlyph{}, []vg.Length{3, 2}, hatch{tint: true, spacing: 4, slopes: []slope{falling}}},
	{purple, draw.CrossGlyph{}, []vg.Length{8, 2, 2, 2}, hatch{tint: true, spacing: 4.5, slopes: []slope{rising, falling}}},
	{black, draw.RingGlyph{}, []vg.Length{12, 2}, hatch{tint: true}},
	{brown, draw.PlusGlyph{}, []vg.Length{1.5, 1.5}, hatch{tint: true, spacing: 4, slopes: []slope{level}}},
	{sky, draw.BoxGlyph{}, []vg.Length{5, 3}, hatch{tint: true, spacing: 4, slopes: []slope{upright}}},
	{blue, draw.TriangleGlyph{}, []vg.Length{8, 2, 2, 2, 2, 2}, hatch{}},
	{vermilion, diamond{}, []vg.Length{12, 2, 3, 2}, hatch{spacing: 2, slopes: []slope{falling}}},
	{green, diamond{hollow: true}, []vg.Length{4, 1}, hatch{spacing: 2, slopes: []slope{level}}},
	{purple, downward{}, []vg.Length{2, 4}, hatch{spacing: 2, slopes: []slope{upright}}},
	{black, downward{hollow: true}, []vg.Length{10, 4}, hatch{spacing: 2.5, slopes: []slope{rising, falling}}},
	{brown, star{}, []vg.Length{6, 1, 1, 1}, hatch{spacing: 2, slopes: []slope{rising}}},
	{sky, dash{}, []vg.Length{3, 1, 1, 1}, hatch{spacing: 3.5, slopes: []slope{level, upright}}},
}

// styleOf returns the style of that number; numbers beyond the last style begin again.
func styleOf(i int) style { return styles[i%len(styles)] }

// polygon fills or strokes the corners, in radii from the centre.
func polygon(c *draw.Canvas, s draw.GlyphStyle, at vg.Point, hollow bool, corners ...[2]float64) {
	var path vg.Path
	for i, k := range corners {
		p := at.Add(vg.Point{X: vg.Length(k[0]) * s.Radius, Y: vg.Length(k[1]) * s.Radius})
		if i == 0 {
			path.Move(p)
			continue
		}
		path.Line(p)
	}
	path.Close()
	if !hollow {
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: vg.Points(0.8)})
	c.Stroke(path)
}

// segments strokes lines between pairs of ends, in radii from the centre.
func segments(c *draw.Canvas, s draw.GlyphStyle, at vg.Point, ends ...[2]float64) {
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: vg.Points(0.8)})
	for i := 0; i < len(ends); i += 2 {
		var path vg.Path
		path.Move(at.Add(vg.Point{X: vg.Length(ends[i][0]) * s.Radius, Y: vg.Length(ends[i][1]) * s.Radius}))
		path.Line(at.Add(vg.Point{X: vg.Length(ends[i+1][0]) * s.Radius, Y: vg.Length(ends[i+1][1]) * s.Radius}))
		c.Stroke(path)
	}
}

// diamond, downward, star and dash are marks that package draw does not have.
type diamond struct{ hollow bool }

// DrawGlyph draws the mark.
func (g diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, s, at, g.hollow, [2]float64{0, 1.3}, [2]float64{1, 0}, [2]float64{0, -1.3}, [2]float64{-1, 0})
}

type downward struct{ hollow bool }

// DrawGlyph draws the mark.
func (g downward) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, s, at, g.hollow, [2]float64{0, -1.1}, [2]float64{1, 0.7}, [2]float64{-1, 0.7})
}

type star struct{}

// DrawGlyph draws the mark.
func (star) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	segments(c, s, at, [2]float64{0, 1}, [2]float64{0, -1}, [2]float64{0.87, 0.5}, [2]float64{-0.87, -0.5}, [2]float64{0.87, -0.5}, [2]float64{-0.87, 0.5})
}

type dash struct{}

// DrawGlyph draws the mark.
func (dash) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	polygon(c, s, at, false, [2]float64{-1.2, -0.4}, [2]float64{1.2, -0.4}, [2]float64{1.2, 0.4}, [2]float64{-1.2, 0.4})
}

// sans is the font of all texts.
func sans(size vg.Length) draw.TextStyle {
	return draw.TextStyle{
		Color: color.Black, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size), Handler: plot.DefaultTextHandler,
	}
}

// textWidthOf is the width of a line of text.
func textWidthOf(text string, size vg.Length) vg.Length {
	s := sans(size)
	return s.Width(text)
}

var (
	frameLine = draw.LineStyle{Color: color.Black, Width: vg.Points(0.6)}
	gridLine  = draw.LineStyle{Color: color.Gray{215}, Width: vg.Points(0.4)}
)

// draw draws the parts of the figure on a canvas of its size.
func (l *layout) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	for _, p := range l.panels {
		l.drawPanel(draw.Canvas{Canvas: c.Canvas, Rectangle: p.data}, &p)
	}
	for _, e := range l.legend {
		l.sample(c, e)
	}
	for _, t := range l.texts {
		s := sans(t.size)
		if t.upright {
			s.Rotation = math.Pi / 2
		}
		if t.text != "" {
			c.FillText(s, t.at, t.text)
		}
	}
}

// strokeAll strokes lines of one style as one path: an SVG file has the style once.
func strokeAll(c draw.Canvas, s draw.LineStyle, lines [][]vg.Point) {
	var p vg.Path
	for _, l := range lines {
		p.Move(l[0])
		for _, at := range l[1:] {
			p.Line(at)
		}
	}
	if len(p) > 0 {
		c.SetLineStyle(s)
		c.Stroke(p)
	}
}

// drawPanel draws the axes and the data of a panel on the canvas at its place.
func (l *layout) drawPanel(c draw.Canvas, p *placedPanel) {
	var grid, ticks [][]vg.Point
	for _, t := range l.y.ticks {
		y := c.Y(l.y.at(t.value))
		if t.label != "" {
			grid = append(grid, []vg.Point{{X: c.Min.X, Y: y}, {X: c.Max.X, Y: y}})
		}
	}
	for _, t := range l.x.ticks {
		x := c.X(l.x.at(t.value))
		if t.label != "" && l.x.categories == nil {
			grid = append(grid, []vg.Point{{X: x, Y: c.Min.Y}, {X: x, Y: c.Max.Y}})
		}
	}
	strokeAll(c, gridLine, grid)
	switch l.kind {
	case bars:
		l.drawBars(c, p.lines)
	case stacked:
		l.drawStacked(c, p.lines)
	}
	c.StrokeLines(frameLine, []vg.Point{{X: c.Min.X, Y: c.Max.Y}, c.Min, {X: c.Max.X, Y: c.Min.Y}})
	if l.y.zero > 0 { // the scale ends above it
		y, h := (c.Min.Y+c.Y(l.y.at(l.y.least)))/2, vg.Points(1.5)
		c.SetColor(color.White)
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X - h, Y: y - h}, Max: vg.Point{X: c.Min.X + h, Y: y + h}}.Path())
		c.StrokeLine2(frameLine, c.Min.X-2*h, y-2*h, c.Min.X+2*h, y)
		c.StrokeLine2(frameLine, c.Min.X-2*h, y, c.Min.X+2*h, y+2*h)
	}
	for _, t := range l.y.ticks {
		y, length := c.Y(l.y.at(t.value)), tickLength
		if t.label == "" {
			length /= 2
		}
		ticks = append(ticks, []vg.Point{{X: c.Min.X - length, Y: y}, {X: c.Min.X, Y: y}})
	}
	for _, t := range l.x.ticks {
		x, length := c.X(l.x.at(t.value)), tickLength
		if t.label == "" {
			length /= 2
		}
		if l.x.categories == nil {
			ticks = append(ticks, []vg.Point{{X: x, Y: c.Min.Y - length}, {X: x, Y: c.Min.Y}})
		}
	}
	strokeAll(c, frameLine, ticks)
	if l.kind == curves || l.kind == dots {
		l.drawCurves(c, p.lines)
	}
}

// drawCurves draws marks, and lines between them.
func (l *layout) drawCurves(c draw.Canvas, lines []line) {
	for _, k := range lines {
		s := styleOf(k.style)
		at := make([]vg.Point, len(k.points))
		for i, p := range k.points {
			at[i] = vg.Point{X: c.X(l.x.at(p[0])), Y: c.Y(l.y.at(p[1]))}
		}
		if l.kind == curves {
			c.StrokeLines(s.line(), at)
		}
		for _, p := range at {
			c.DrawGlyphNoClip(s.glyph(), p)
		}
	}
}

func (s *style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.colour, Width: vg.Points(0.9), Dashes: s.dashes}
}

func (s *style) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.colour, Radius: vg.Points(2.6), Shape: s.mark}
}

// drawBars draws a group of bars for each category. Every line has its place in each group.
func (l *layout) drawBars(c draw.Canvas, lines []line) {
	group := c.Size().X / vg.Length(len(l.x.categories))
	const space = 0.2 // of a group
	width := group * (1 - space) / vg.Length(len(lines))
	for i, k := range lines {
		for _, p := range k.points {
			left := c.X(l.x.at(p[0])) + width*(vg.Length(i)-vg.Length(len(lines))/2)
			bar := vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y}, Max: vg.Point{X: left + width, Y: c.Y(l.y.at(p[1]))}}
			styleOf(k.style).fill(c, bar)
		}
	}
}

// drawStacked draws shares on top of each other, with their numbers where there is space.
func (l *layout) drawStacked(c draw.Canvas, lines []line) {
	width := min(c.Size().X/vg.Length(len(l.x.categories))*0.7, 1.6*vg.Centimeter)
	sums := map[float64]float64{}
	for _, k := range lines {
		for _, p := range k.points {
			left := c.X(l.x.at(p[0])) - width/2
			low := sums[p[0]]
			sums[p[0]] += p[1]
			part := vg.Rectangle{
				Min: vg.Point{X: left, Y: c.Y(l.y.at(low))},
				Max: vg.Point{X: left + width, Y: c.Y(l.y.at(sums[p[0]]))},
			}
			styleOf(k.style).fill(c, part)
			text := short(&p[1])
			w := textWidthOf(text, textSize-1)
			if part.Size().Y < textSize+2 || w+4 > width {
				continue
			}
			at := vg.Point{X: left + width/2 - w/2, Y: (part.Min.Y+part.Max.Y)/2 - (textSize-1)/2}
			c.SetColor(color.White)
			c.Fill(vg.Rectangle{Min: at.Add(vg.Point{X: -1.5, Y: -1}), Max: at.Add(vg.Point{X: w + 1.5, Y: textSize - 1})}.Path())
			c.FillText(sans(textSize-1), at, text)
		}
	}
}

// fill fills a bar.
func (s style) fill(c draw.Canvas, r vg.Rectangle) {
	colour := color.RGBA{255, 255, 255, 255}
	switch {
	case s.hatch.solid:
		colour = s.colour
	case s.hatch.tint:
		colour = tint(s.colour)
	}
	c.SetColor(colour)
	c.Fill(r.Path())
	stroke := draw.LineStyle{Color: s.colour, Width: vg.Points(0.5)}
	in := draw.Canvas{Canvas: c.Canvas, Rectangle: r}
	for _, k := range s.hatch.slopes {
		strokeAll(c, stroke, in.ClipLinesXY(k.lines(r, s.hatch.spacing)...))
	}
	stroke.Width = vg.Points(0.7)
	c.StrokeLines(stroke, []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}, r.Min})
}

// tint is the colour mixed with white.
func tint(c color.RGBA) color.RGBA {
	mix := func(x uint8) uint8 { return uint8(255 - (255-int(x))/5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// lines returns the lines of a hatching that cross a rectangle, some beyond its edges. The lines of
// all bars are on the same grid.
func (k slope) lines(r vg.Rectangle, spacing vg.Length) [][]vg.Point {
	var list [][]vg.Point
	first := func(x vg.Length) vg.Length { return vg.Length(math.Ceil(float64(x/spacing))) * spacing }
	switch h := r.Size().Y; k {
	case level:
		for y := first(r.Min.Y); y < r.Max.Y; y += spacing {
			list = append(list, []vg.Point{{X: r.Min.X, Y: y}, {X: r.Max.X, Y: y}})
		}
	case upright:
		for x := first(r.Min.X); x < r.Max.X; x += spacing {
			list = append(list, []vg.Point{{X: x, Y: r.Min.Y}, {X: x, Y: r.Max.Y}})
		}
	case rising:
		step := spacing * math.Sqrt2
		for x := r.Min.X - h; x < r.Max.X; x += step {
			list = append(list, []vg.Point{{X: x, Y: r.Min.Y}, {X: x + h, Y: r.Max.Y}})
		}
	case falling:
		step := spacing * math.Sqrt2
		for x := r.Min.X; x < r.Max.X+h; x += step {
			list = append(list, []vg.Point{{X: x, Y: r.Min.Y}, {X: x - h, Y: r.Max.Y}})
		}
	}
	return list
}

// sample draws a style in the legend.
func (l *layout) sample(c draw.Canvas, e legendEntry) {
	s := styleOf(e.style)
	if l.kind == bars || l.kind == stacked {
		s.fill(c, e.box)
		return
	}
	y := (e.box.Min.Y + e.box.Max.Y) / 2
	if l.kind == curves {
		c.StrokeLine2(s.line(), e.box.Min.X, y, e.box.Max.X, y)
	}
	c.DrawGlyphNoClip(s.glyph(), vg.Point{X: (e.box.Min.X + e.box.Max.X) / 2, Y: y})
}
