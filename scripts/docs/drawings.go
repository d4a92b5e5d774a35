package main

import (
	"fmt"
	"html"
	"path/filepath"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/matfile"
)

// Colours of drawings: ink, a box, a right result and a wrong one.
const (
	ink, pale, right, wrong = "#222", "#eaf1f7", "#0068a8", "#c03000"
)

// canvas is an SVG picture on white.
type canvas struct {
	width, height int
	body          strings.Builder
}

// text writes a line; anchor is start, middle or end.
func (c *canvas) text(x, y, size int, colour, anchor, weight, text string) {
	fmt.Fprintf(&c.body, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\" text-anchor=\"%s\" font-weight=\"%s\">%s</text>\n",
		x, y, size, colour, anchor, weight, html.EscapeString(text))
}

func (c *canvas) box(x, y, w, h int, fill, stroke string) {
	fmt.Fprintf(&c.body, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, w, h, fill, stroke)
}

func (c *canvas) line(x1, y1, x2, y2 int, colour string, width int, more string) {
	fmt.Fprintf(&c.body, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"%d\"%s/>\n", x1, y1, x2, y2, colour, width, more)
}

func (c *canvas) arrow(x1, y1, x2, y2 int) {
	c.line(x1, y1, x2, y2, ink, 2, ` marker-end="url(#tip)"`)
}

func (c *canvas) svg(title string) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Liberation Sans,Arial,Helvetica,sans-serif" role="img">
<title>%s</title>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="%s"/></marker></defs>
<rect width="%d" height="%d" fill="#fff"/>
%s</svg>
`, c.width, c.height, c.width, c.height, html.EscapeString(title), ink, c.width, c.height, c.body.String())
}

// drawings draws what explains rather than measures.
func drawings(root string, files map[string][]byte) error {
	pi, err := piPicture(root)
	if err != nil {
		return err
	}
	files["docs/pictures/pi.svg"] = pi
	files["docs/pictures/ziv.svg"] = zivPicture()
	files["docs/pictures/products.svg"] = flow("Products of matrices",
		step{"A, B: numbers of any formats", "exact as they are", ""},
		step{"Align", "a row of A, a column of B: integers with one exponent", ""},
		step{"Residues", "the integers modulo m₁, m₂, ..., some tens of numbers below 2¹³", ""},
		step{"Products of small integers", "one for each modulus, exact, in SIMD units or tensor cores", ""},
		step{"Chinese remainders", "leading bits of the sum, and a bound of what is missing", ""},
		step{"Ziv's test", "do both ends round to the same number?", "no: the few entries are added exactly"},
		step{"C: correctly rounded", "the same bits on every machine", ""},
	)
	files["docs/pictures/systems.svg"] = flow("Systems",
		step{"A X = B", "numbers of any formats, exact as they are", ""},
		step{"Decompose in float64", "a seed R, near to the inverse of A", ""},
		step{"‖I − R A‖ < 1 ?", "proved by an exact product: A is regular", "no: improve R by exact products, or prove A singular modulo primes"},
		step{"Refine", "correctly rounded residuals B − A X make the enclosure of X narrower", ""},
		step{"Ziv's test", "do both ends round to the same number?", "no: refine again; ties by p-adic lifting"},
		step{"X: correctly rounded", "whatever the condition number", ""},
	)
	return nil
}

// step is a box of a pipeline: what happens, what that means, and what happens otherwise.
type step struct{ name, about, otherwise string }

// flow draws a pipeline from top to bottom.
func flow(title string, steps ...step) []byte {
	const width, gap, left = 560, 28, 20
	c := &canvas{width: width + 2*left}
	y := left
	for i, s := range steps {
		height := 62
		if s.otherwise != "" {
			height += 20
		}
		c.box(left, y, width, height, pale, right)
		c.text(left+width/2, y+25, 18, ink, "middle", "bold", s.name)
		c.text(left+width/2, y+48, 15, ink, "middle", "normal", s.about)
		if s.otherwise != "" {
			c.text(left+width/2, y+69, 15, wrong, "middle", "normal", s.otherwise)
		}
		y += height
		if i < len(steps)-1 {
			c.arrow(left+width/2, y, left+width/2, y+gap)
			y += gap
		}
	}
	c.height = y + left
	return c.svg(title)
}

// zivPicture shows two enclosures among the numbers of a format.
func zivPicture() []byte {
	c := &canvas{width: 600, height: 250}
	const left, unit = 60, 120
	row := func(y, lo, hi int, colour, what string) {
		c.line(left-30, y, left+4*unit+30, y, ink, 2, "")
		for k := range 5 {
			c.line(left+k*unit, y-12, left+k*unit, y+12, ink, 3, "")
			if k < 4 {
				c.line(left+k*unit+unit/2, y-7, left+k*unit+unit/2, y+7, ink, 1, ` stroke-dasharray="3 2"`)
			}
		}
		c.line(lo, y, hi, y, colour, 9, ` stroke-linecap="round"`)
		c.text(300, y-26, 16, colour, "middle", "bold", what)
	}
	row(60, left+unit+70, left+unit+100, right, "both ends round to the same number: that is the result")
	row(150, left+2*unit+45, left+2*unit+75, wrong, "a halfway point lies inside: compute the entry exactly")
	c.line(60, 205, 60, 221, ink, 3, "")
	c.text(72, 219, 15, ink, "start", "normal", "numbers of the format")
	c.line(260, 205, 260, 221, ink, 1, ` stroke-dasharray="3 2"`)
	c.text(272, 219, 15, ink, "start", "normal", "halfway points")
	c.line(412, 213, 432, 213, right, 9, ` stroke-linecap="round"`)
	c.text(446, 219, 15, ink, "start", "normal", "enclosure")
	return c.svg("Ziv's test")
}

// piPicture shows the product of examples, whose entries are digits of π, as plain float64
// arithmetic and as halfulp compute it.
func piPicture(root string) ([]byte, error) {
	read := func(name string) (*halfulp.Matrix, error) {
		return matfile.Read(filepath.Join(root, "examples", name), nil)
	}
	a, err := read("pascal.mtx")
	if err != nil {
		return nil, err
	}
	x, err := read("pi.mtx")
	if err != nil {
		return nil, err
	}
	y := halfulp.NewVector(halfulp.Float64, a.Rows())
	if err := halfulp.Gemv(halfulp.NoTrans, halfulp.Float(1), a, x.Col(0), halfulp.Float(0), y, nil); err != nil {
		return nil, err
	}
	const columns, width, height, margin, top = 6, 96, 58, 12, 66
	c := &canvas{width: columns*width + 2*margin, height: a.Rows()/columns*height + top + margin}
	c.text(margin+4, 26, 17, right, "start", "bold", "halfulp: the first 24 digits of π")
	c.text(margin+4, 50, 17, wrong, "start", "bold", "float64, the same integers: 6 of them")
	for i := range a.Rows() {
		sum := 0.0
		for j := range a.Cols() {
			sum += float64(a.Float64(i, j) * x.Float64(j, 0)) // rounded twice, as plain loops do
		}
		left, y0 := margin+i%columns*width, top+i/columns*height
		c.box(left+3, y0+3, width-6, height-6, pale, "#c5d5e2")
		c.text(left+width/2, y0+26, 20, right, "middle", "bold", y.At(i).Text(1))
		colour := wrong
		if sum == y.At(i).Float64() {
			colour = right
		}
		c.text(left+width/2, y0+46, 14, colour, "middle", "normal", fmt.Sprintf("%.0f", sum))
	}
	return c.svg("Digits of π, right and wrong"), nil
}
