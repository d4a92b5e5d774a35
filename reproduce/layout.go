package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// layOut makes the tables of text and the plots of the report's records.
func (r *Report) layOut() error {
	r.text, r.plots = nil, nil
	switch r.Name {
	case sumName:
		r.sumTexts()
		r.sumPlots()
	case gemvName:
		r.gemvTexts()
		r.gemvPlots()
	case ozakiName:
		p := r.ozakiParts()
		r.ozakiTexts(p.sizes, p.all, p.phis)
		r.ozakiPlots(p.methods, p.sizes, p.all, p.phis)
	case qdName:
		r.qdTexts(r.qdOrders())
		r.qdPlots()
	default:
		return fmt.Errorf("no experiment is called %q", r.Name)
	}
	return nil
}

// ReadJSON reads a report that WriteJSON has written, and lays it out.
func ReadJSON(from io.Reader) (*Report, error) {
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	r := new(Report)
	if err := d.Decode(r); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the report")
	}
	if len(r.Records) == 0 {
		return nil, fmt.Errorf("no records")
	}
	return r, r.layOut()
}

// ozakiParts are the parts of an Ozaki report.
type ozakiParts struct {
	methods    []ozakiMethod
	sizes, all []int // with errors, and with times
	phis       []float64
	seeds      int
}

// ozakiParts returns the parts of the report, in the order of its tables.
func (r *Report) ozakiParts() ozakiParts {
	var p ozakiParts
	methods := ozakiMethods()
	for _, k := range r.find(tableOzakiTimes) {
		p.all = append(p.all, k.N)
		known := func(m ozakiMethod) bool { return m.name == k.Method }
		if i := slices.IndexFunc(methods, known); i >= 0 && !slices.ContainsFunc(p.methods, known) {
			p.methods = append(p.methods, methods[i])
		}
	}
	for _, k := range r.find(tableOzakiErrors) {
		p.sizes = append(p.sizes, k.N)
		if phi, err := strconv.ParseFloat(strings.TrimPrefix(k.Case, phiCase(0)[:len(phiCase(0))-1]), 64); err == nil {
			p.phis = append(p.phis, phi)
		}
		p.seeds = max(p.seeds, k.Seed)
	}
	p.sizes, p.all, p.phis = sorted(p.sizes), sorted(p.all), sorted(p.phis)
	return p
}

// qdOrders returns the orders of the systems solved on the CPU and on the GPU.
func (r *Report) qdOrders() (cpuN, gpuN int) {
	for _, k := range r.find(tableQDGemm) {
		switch {
		case k.Here == nil:
		case k.Device == cpuDevice:
			cpuN = k.N
		default:
			gpuN = k.N
		}
	}
	return cpuN, gpuN
}
