package reproduce

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// figure is a row of panels with one legend. Axes are logarithmic, or as said.
type figure struct {
	name, title      string
	xLabel, yLabel   string   // xLabel "" for the precision
	xLinear, percent bool     // percent: the y axis is linear from 0 to 100
	xDecades         bool     // ticks are powers of ten, not the values that occur
	xNames           []string // of 1, 2, ... on a linear x axis, in place of the numbers
	panels           []panel
}

// precisionLabel is the label of x axes where there is no other.
const precisionLabel = "precision, bits"

// label is the label of the x axis.
func (f *figure) label() string {
	if f.xLabel == "" {
		return precisionLabel
	}
	return f.xLabel
}

type panel struct {
	title string
	lines []line
}

// line is a curve of a panel: (bits, value), or dots alone. Style chooses colour and marks; the
// paper's lines are dashed.
type line struct {
	name   string
	style  int
	paper  bool
	dots   bool
	points [][2]float64
}

// Sizes of a figure.
const (
	panelWidth   = 11 * vg.Centimeter
	legendWidth  = 7 * vg.Centimeter
	figureHeight = 11 * vg.Centimeter
	titleHeight  = 1 * vg.Centimeter
	margin       = 2 * vg.Millimeter
	dotsPerInch  = 110
)

// Colours and marks by style. The colours are those of Okabe and Ito, which the
// colour-blind tell apart.
var colours = []color.Color{
	color.RGBA{0, 114, 178, 255},
	color.RGBA{213, 94, 0, 255},
	color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255},
	color.RGBA{0, 0, 0, 255},
	color.RGBA{230, 159, 0, 255},
	color.RGBA{86, 180, 233, 255},
	color.RGBA{120, 120, 120, 255},
	color.RGBA{240, 228, 66, 255},
}

var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{},
}

// dashes of the paper's lines.
var dashes = []vg.Length{vg.Points(5), vg.Points(3)}

// write draws the figure as "png" or "svg".
func (f *figure) write(w io.Writer, kind string) error {
	width := panelWidth*vg.Length(len(f.panels)) + legendWidth
	var c vg.CanvasWriterTo
	switch kind {
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, figureHeight), vgimg.UseDPI(dotsPerInch))}
	case "svg":
		c = vgsvg.New(width, figureHeight)
	default:
		return fmt.Errorf("plots are png or svg, not %q", kind)
	}
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	_, err := c.WriteTo(w)
	return err
}

func (f *figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font = sans(9)
	legend.ThumbnailWidth = vg.Points(28)
	legend.Padding = vg.Points(3)
	row := make([]*plot.Plot, len(f.panels))
	for i, p := range f.panels {
		q := plot.New()
		row[i] = q
		q.Title.Text = p.title
		q.X.Label.Text = f.label()
		q.Y.Label.Text = f.yLabel
		for _, s := range []*font.Font{
			&q.Title.TextStyle.Font, &q.X.Label.TextStyle.Font, &q.Y.Label.TextStyle.Font, &q.X.Tick.Label.Font, &q.Y.Tick.Label.Font,
		} {
			*s = sans(9)
		}
		if !f.xLinear {
			q.X.Scale = plot.LogScale{}
		}
		if !f.percent {
			q.Y.Scale = plot.LogScale{}
		}
		q.Add(plotter.NewGrid())
		floor, zeros := p.floor()
		for _, l := range p.lines {
			var at plotter.XYs
			for _, point := range l.points {
				at = append(at, plotter.XY{X: point[0], Y: max(point[1], floor)})
			}
			if len(at) == 0 {
				continue
			}
			curve, dots, err := plotter.NewLinePoints(at)
			if err != nil {
				return err
			}
			curve.Color, dots.Color = colours[l.style], colours[l.style]
			dots.Shape, dots.Radius = glyphs[l.style], vg.Points(2.8)
			if l.paper {
				curve.Dashes = dashes
			}
			thumbs := []plot.Thumbnailer{curve, dots}
			if l.dots {
				thumbs = thumbs[1:]
			} else {
				q.Add(curve)
			}
			q.Add(dots)
			if !drawn(f.panels[:i], l.name) {
				legend.Add(l.name, thumbs...)
			}
		}
		switch {
		case f.xDecades:
			lo, hi := math.Floor(math.Log10(q.X.Min)), math.Ceil(math.Log10(q.X.Max))
			q.X.Min, q.X.Max = math.Pow(10, lo), math.Pow(10, max(hi, lo+1))
			q.X.Tick.Marker = plot.ConstantTicks(decades(lo, max(hi, lo+1), 0, false))
		case f.xLinear:
			ticks := p.bitTicks()
			if f.xNames != nil {
				ticks = nil
				for i, name := range f.xNames {
					ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: name})
				}
			}
			q.X.Tick.Marker = plot.ConstantTicks(ticks)
			q.X.Min, q.X.Max = q.X.Min-0.5, q.X.Max+0.5
		default:
			q.X.Tick.Marker = plot.ConstantTicks(p.bitTicks())
			q.X.Min, q.X.Max = q.X.Min/1.15, q.X.Max*1.15
		}
		if f.percent {
			q.Y.Min, q.Y.Max = 0, 100
			continue
		}
		lo, hi := math.Floor(math.Log10(q.Y.Min)), math.Ceil(math.Log10(q.Y.Max))
		q.Y.Min, q.Y.Max = math.Pow(10, lo), math.Pow(10, max(hi, lo+1))
		q.Y.Tick.Marker = plot.ConstantTicks(decades(lo, max(hi, lo+1), floor, zeros))
	}
	title := row[0].Title.TextStyle
	title.Font = sans(12)
	title.YAlign = draw.YCenter
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - titleHeight/2}, f.title)
	c = draw.Crop(c, margin, -margin, margin, -titleHeight)
	area := draw.Crop(c, 0, -legendWidth, 0, 0)
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: 2 * margin}
	for i, canvas := range plot.Align([][]*plot.Plot{row}, tiles, area)[0] {
		row[i].Draw(canvas)
	}
	legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-legendWidth+3*margin, 0, 0, -titleHeight))
	return nil
}

func sans(points float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points))
}

// drawn reports whether one of the panels has a line of that name.
func drawn(panels []panel, name string) bool {
	for _, p := range panels {
		for _, l := range p.lines {
			if l.name == name && len(l.points) > 0 {
				return true
			}
		}
	}
	return false
}

// floor is where zeros are drawn on the logarithmic axis, some decades below the least
// other value, and whether there are any.
func (p *panel) floor() (floor float64, zeros bool) {
	least := 1.0
	for _, l := range p.lines {
		for _, point := range l.points {
			if point[1] > 0 {
				least = min(least, point[1])
			} else {
				zeros = true
			}
		}
	}
	if !zeros {
		return 0, false
	}
	return math.Pow(10, math.Floor(math.Log10(least))-5), true
}

// bitTicks marks the precisions that occur.
func (p *panel) bitTicks() []plot.Tick {
	var ticks []plot.Tick
	seen := map[float64]bool{}
	for _, l := range p.lines {
		for _, point := range l.points {
			if !seen[point[0]] {
				seen[point[0]] = true
				ticks = append(ticks, plot.Tick{Value: point[0], Label: strconv.Itoa(int(point[0]))})
			}
		}
	}
	return ticks
}

// decades marks powers of ten from 10^lo to 10^hi, eight or so of them with a label, and
// the floor as 0.
func decades(lo, hi, floor float64, zeros bool) []plot.Tick {
	step := max(math.Ceil((hi-lo)/8), 1)
	var ticks []plot.Tick
	if zeros {
		ticks = append(ticks, plot.Tick{Value: floor, Label: "0"})
	}
	for e := hi; e >= lo; e-- {
		t := plot.Tick{Value: math.Pow(10, e)}
		if math.Mod(hi-e, step) == 0 && (!zeros || t.Value > 100*floor) {
			t.Label = strings.Replace(strconv.FormatFloat(t.Value, 'g', 6, 64), "e-0", "e-", 1)
		}
		if !zeros || t.Value > floor {
			ticks = append(ticks, t)
		}
	}
	return ticks
}
