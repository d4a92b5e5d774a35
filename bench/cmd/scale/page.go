package main

import (
	"bytes"
	"fmt"
	"math"
	"text/template"
)

var (
	orders     = []float64{1e4, 1e5, 1e6}
	precisions = []float64{424, 1024}
	counts     = []int{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	tabled     = []int{2, 8, 16, 64, 256, 1024}
)

// routine is one that is simulated.
type routine struct {
	Name string
	run  func(s System, n, bits float64) Cost
}

var routines = []routine{
	{"Gemm", System.Gemm}, {"Solve, one right-hand side", System.Solve}, {"Cholesky", System.Cholesky},
}

// row is a line of the table of a routine.
type row struct {
	Order, Bits, One, Least string
	Cells                   []string
}

// check is a measured time, and the model's.
type check struct {
	What            string
	Measured, Model float64
	Unit, From      string
}

// Ratio is the model's multiple of the measured time.
func (c check) Ratio() float64 { return c.Model / c.Measured }

// generate returns the page and the picture by their names.
func generate(root string) (map[string][]byte, error) {
	m, err := Read(root)
	if err != nil {
		return nil, err
	}
	var panels []panel
	type table struct {
		Name string
		Rows []row
	}
	var tables []table
	for _, r := range routines {
		t := table{Name: r.Name}
		drawn := panel{title: r.Name}
		for _, bits := range precisions {
			for _, n := range orders {
				one := r.run(System{m, 1, NodeGPUs, true}, n, bits)
				line := row{Order: power(n), Bits: fmt.Sprint(bits), One: seconds(one.Seconds)}
				s := curve{fmt.Sprintf("n = %s, %g bits", power(n), bits), [][2]float64{{1, 1}}}
				for _, p := range counts {
					real := r.run(System{m, p, NodeGPUs, false}, n, bits)
					c := real
					if real.Fits {
						if line.Least == "" {
							line.Least = fmt.Sprint(p)
						}
					} else {
						c = r.run(System{m, p, NodeGPUs, true}, n, bits)
					}
					efficiency := one.Seconds / c.Seconds / float64(p)
					s.points = append(s.points, [2]float64{float64(p), efficiency})
					for _, q := range tabled {
						if p != q {
							continue
						}
						cell := fmt.Sprintf("%.0f %%, %s", 100*efficiency, seconds(c.Seconds))
						if efficiency < 0.095 {
							cell = fmt.Sprintf("%.1f %%, %s", 100*efficiency, seconds(c.Seconds))
						}
						if !real.Fits {
							cell = "(" + cell + ")"
						}
						line.Cells = append(line.Cells, cell)
					}
				}
				if r.run(System{m, 1, NodeGPUs, false}, n, bits).Fits {
					line.Least = "1"
				} else if line.Least == "" {
					line.Least = "more"
				}
				t.Rows = append(t.Rows, line)
				if bits == 424 {
					drawn.curves = append(drawn.curves, s)
				}
			}
		}
		tables = append(tables, t)
		panels = append(panels, drawn)
	}
	svg := draw("A model: efficiency on GPUs in nodes of eight", panels)
	volume := func(n, bits float64, p, links int) string {
		c := System{m, p, links, true}.Gemm(n, bits)
		return fmt.Sprintf("%.3g GB, %s", c.Bytes/1e9, seconds(c.Seconds))
	}
	var page bytes.Buffer
	err = text.Execute(&page, map[string]any{
		"Tables": tables, "Counts": tabled, "Checks": m.checks(), "Factor": Factor,
		"Links8": volume(1e5, 424, 256, NodeGPUs), "Links1": volume(1e5, 424, 256, 1),
		"Memory": fmt.Sprintf("%.0f", m.Memory/1e9), "Products": fmt.Sprintf("%.0f", m.costs(424).products),
		"GPUs": fmt.Sprintf("%.0f", math.Ceil(3e12*m.costs(424).bytes/(roomShare*m.Memory))),
	})
	return map[string][]byte{"docs/guide/scale.md": page.Bytes(), "docs/guide/scale.svg": svg}, err
}

// Factor is what the model's times lie within of the measured ones.
const Factor = 1.35

// checks are measured cases that the model has to meet.
func (m *Measured) checks() []check {
	one := System{m, 1, NodeGPUs, true}
	var list []check
	add := func(what string, measured, model float64, from string) {
		list = append(list, check{what, measured * 1e3, model * 1e3, "ms", from})
	}
	record := "[record](../../bench/records/h100-gemm.json.gz)"
	add("one H100, Gemm n = 8192, 53 bits", m.at(8192, 53).all, one.Gemm(8192, 53).Seconds, record)
	add("one H100, Gemm n = 1000, 424 bits", m.at(1000, 424).all, one.Gemm(1000, 424).Seconds, record+", fitted")
	add("one H100, Gemm n = 4096, 848 bits", m.at(4096, 848).all, one.Gemm(4096, 848).Seconds, record+", fitted")
	record = "[record](../../bench/records/h100-linsolve.json.gz), fitted"
	for _, bits := range []int{106, 424} {
		b := float64(bits)
		add(fmt.Sprintf("one H100, Solve n = 4096, %d bits", bits), m.solver["solve"][[2]int{4096, bits}].all, one.Solve(4096, b).Seconds, record)
		add(fmt.Sprintf("one H100, Cholesky n = 4096, %d bits", bits), m.solver["chol"][[2]int{4096, bits}].all, one.Cholesky(4096, b).Seconds, record)
	}
	record = "[record](../../bench/records/h200-two.json.gz)"
	add("one H200, Gemm n = 8192, 53 bits", 18.9e-3, one.Gemm(8192, 53).Seconds, record)
	add("one H200, Gemm n = 8192, 424 bits", 161e-3, one.Gemm(8192, 424).Seconds, record)
	two := System{m, 2, NodeGPUs, true}
	ratio := one.FromHost(8192, 424) / two.FromHost(8192, 424)
	const lowest, highest = 1.30, 1.46 // measured, of several sizes
	return append(list, check{"two H200 against one, operands and result on the host", (lowest + highest) / 2, ratio, "times", "no record: 1.30 to 1.46"})
}

func power(n float64) string {
	return map[float64]string{1e4: "10⁴", 1e5: "10⁵", 1e6: "10⁶"}[n]
}

// seconds writes a time.
func seconds(t float64) string {
	switch {
	case t < 0.9995:
		return fmt.Sprintf("%.0f ms", t*1e3)
	case t < 120:
		return fmt.Sprintf("%.3g s", t)
	case t < 7200:
		return fmt.Sprintf("%.0f min", t/60)
	}
	return fmt.Sprintf("%.0f h", t/3600)
}

var text = template.Must(template.New("").Parse(`# Many GPUs: a model

**Nothing on this page was measured on more than two GPUs.** A model predicts the times. ` + "`go run ./cmd/scale`" + ` in
[bench](../../bench/README.md) computes them and writes this page. The model has the algorithms for which halfulp is designed;
[several processes](processes.md) and [GPUs](gpu.md) describe what exists. The model has no processes on CPUs.

![Efficiency](scale.svg)

The efficiency is the time of one GPU with unlimited memory, divided by the time of P GPUs and by P. A figure in brackets means
that the matrices do not fit into the GPUs' memory of {{.Memory}} GB each; its time and efficiency assume GPUs with more memory. "Least"
is the least power of two, up to 1024, of GPUs into which the matrices fit.
{{range .Tables}}
## {{.Name}}

| n | bits | one GPU |{{range $.Counts}} {{.}} GPUs |{{end}} least |
|---|---|---|{{range $.Counts}}---|{{end}}---|
{{range .Rows}}| {{.Order}} | {{.Bits}} | {{.One}} |{{range .Cells}} {{.}} |{{end}} {{.Least}} |
{{end}}{{end}}
## What the model predicts

- One matrix of n = 10⁶ at 424 bits takes 58 TB. The three matrices of a product fit into {{.GPUs}} GPUs, without any working memory. Solve
  needs A and a float64 inverse, and fits 1024 GPUs at 424 bits. Nothing else of that order fits.
- Products scale if each GPU holds 10⁴ rows and columns of C or more. With fewer the network is the limit: a number of 424 bits is
  sent as 58 bytes and multiplied as {{.Products}} bytes. Gemm of n = 10⁵ at 424 bits on 256 GPUs: each GPU receives {{.Links8}} with
  a link for each GPU, and {{.Links1}} if the eight GPUs of a node share one link.
- Each GPU that needs a number converts it to residues. On 32 x 32 GPUs each number is converted 32 times.
- Solve and Cholesky stop scaling at the float64 elimination, whose columns are computed one after the other, each with messages
  that find its pivot. For n = 10⁴ a few GPUs are best.

## How the model works

The model simulates events. Each GPU has a stream, an input and an output for the other GPUs of its node, and an input and an
output for the network. A task occupies everything that it uses for its time, and begins when its inputs exist.

- Gemm is SUMMA on a grid that is as near to a square as powers of two allow; a node is 2 x 4 GPUs of the grid. Panels of A travel
  along rows and panels of B along columns, from GPU to GPU in 16 parts, at most one panel ahead of the products. The number of
  panels is the best one. A GPU converts its panels to residues, multiplies them, adds the products to the residues of its part
  of C, and rounds once at the end. If the residues do not fit, it computes C in pieces by columns, and A travels again for each
  piece.
- Solve is a float64 elimination by panels, a product that proves it, and steps of refinement with one vector. Cholesky is an
  elimination and some products. Their numbers and other costs are fitted to the stages of one GPU at n = 1000 and 4096.
- Precisions between the measured ones, such as 1024 bits, are interpolated linearly. Systems of order 4096 with 1696 bits were
  measured with an earlier version, in which Solve took twice as long at 424 bits. The predictions for 1024 bits are therefore
  too slow.

| constant | value | |
|---|---|---|
| stages of products and solvers | | measured, one H100: [products](../../bench/records/h100-gemm.json.gz), [solvers](../../bench/records/h100-linsolve.json.gz) |
| copy between GPUs of a node, one way | 382 GB/s | measured, two H200, no record |
| operands of the host, in today's products | 40 GB/s, 60 for all GPUs | measured, H100, no record; the bus has 54.5 GB/s from pinned memory |
| link between nodes, one for each GPU | 50 GB/s | data sheet: 400 Gb/s |
| memory of a GPU | 3.35 TB/s | data sheet, H100 |
| start of a copy, of a message between nodes | 10 µs, 20 µs | assumed |
| share of memory for matrices and residues | 0.9 | assumed |

## Measured cases

The times of the model are within a factor of {{.Factor}} of the measured times in the table, as a test of the command checks. Cases marked
as fitted check only the fit. No transfer between nodes, and nothing on more than two GPUs, was measured.

| case | measured | model | model / measured | from |
|---|---|---|---|---|
{{range .Checks}}| {{.What}} | {{printf "%.3g" .Measured}} {{.Unit}} | {{printf "%.3g" .Model}} {{.Unit}} | {{printf "%.2f" .Ratio}} | {{.From}} |
{{end}}
The records of two [H100](../../bench/records/h100-two.json.gz) and of two [H200](../../bench/records/h200-two.json.gz), whose memory holds
the matrices, are newer than the model, which does not use them. At n = 8192 two H200 are 1.82 times as fast as one in Gemm at 53
bits and 1.88 times at 424 bits, near the model's ratio for n = 10⁴. At 53 bits they are 1.57 times as fast in Solve and 1.44 times in
Cholesky: **the model does not hold for Cholesky today**. It does not wait for all GPUs between the parts of an elimination or
of a step of refinement.
`))
