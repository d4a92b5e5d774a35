package reproduce

import (
	"fmt"
	"strings"
	"time"
)

// Experiment is one of Names with its sizes.
type Experiment struct {
	Name string
	// N is the number of addends, the order of the matrix or of the system. 0 stands for the
	// default of the experiment alone: the paper's, and for qd on the CPU QDCPUN.
	N int
	// Sizes are the sizes of ozaki, in place of N.
	Sizes []int
	Seeds int
	Phi   []float64
}

// OzakiSeeds is the number of seeds when ozaki runs alone.
const OzakiSeeds = 3

// Default returns the experiment with the sizes of a run alone.
func Default(name string) Experiment {
	x := Experiment{Name: name}
	if name == ozakiName {
		x.Sizes, x.Seeds, x.Phi = OzakiSizes, OzakiSeeds, OzakiPhi
	}
	return x
}

// Paper returns the experiment with the paper's sizes. For qd these are the sizes of a GPU if there
// is one.
func Paper(name string, gpu bool) Experiment {
	x := Default(name)
	switch name {
	case ozakiName:
		x.Sizes, x.Seeds = OzakiPaperSizes, OzakiPaperSeeds
	case qdName:
		if !gpu {
			x.N = QDN
		}
	}
	return x
}

// Quick returns the experiment with sizes that take a CPU a minute or so.
func Quick(name string) Experiment {
	x := Default(name)
	switch name {
	case sumName:
		x.N = SumN / 5
	case gemvName:
		x.N = 400
	case ozakiName:
		x.Sizes = []int{256, 1024}
	case qdName:
		x.N = 360
	}
	return x
}

// Flags returns the flags for sizes other than the default, each after a blank.
func (x *Experiment) Flags() string {
	flags := ""
	if x.N != 0 && !(x.Name == sumName && x.N == SumN) && !(x.Name == gemvName && x.N == GemvN) {
		flags += fmt.Sprintf(" --n %d", x.N)
	}
	if x.Name != ozakiName {
		return flags
	}
	list := func(x any) string { return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x)), ","), "[]") }
	d := Default(x.Name)
	if s := list(x.Sizes); s != list(d.Sizes) {
		flags += " --n " + s
	}
	if x.Seeds != d.Seeds {
		flags += fmt.Sprintf(" --seeds %d", x.Seeds)
	}
	if s := list(x.Phi); s != list(d.Phi) {
		flags += " --phi " + s
	}
	return flags
}

// Size returns the sizes in words; for qd the CPU's size and, with a GPU, the GPU's.
func (x *Experiment) Size(gpu bool) string {
	switch n := x.order(gpu); {
	case x.Name == ozakiName:
		return fmt.Sprintf("n = %v, %d seeds, phi = %v", x.Sizes, x.Seeds, x.Phi)
	case n[0] != n[1]:
		return fmt.Sprintf("n = %d, and %d on the GPU", n[0], n[1])
	default:
		return fmt.Sprintf("n = %d", n[0])
	}
}

// order returns the sizes on the CPU and on the GPU, which are the same without a GPU.
func (x *Experiment) order(gpu bool) [2]int {
	if x.N != 0 {
		return [2]int{x.N, x.N}
	}
	switch x.Name {
	case sumName:
		return [2]int{SumN, SumN}
	case gemvName:
		return [2]int{GemvN, GemvN}
	}
	if gpu {
		return [2]int{QDCPUN, QDN}
	}
	return [2]int{QDCPUN, QDCPUN}
}

func (x *Experiment) plan(gpu bool) plan {
	n := x.order(gpu)
	switch x.Name {
	case sumName:
		return sumPlan(n[0])
	case gemvName:
		return gemvPlan(n[0])
	case ozakiName:
		return ozakiPlan(x.Sizes, x.Seeds, x.Phi)
	}
	return qdPlan(n[0], n[1])
}

// Estimate returns how long Run takes, estimated from small pieces of its work.
func (x *Experiment) Estimate(o Options) (time.Duration, error) {
	steps, err := o.planned(x.plan(o.onAGPU()))
	if err != nil {
		return 0, err
	}
	return newMeter(steps, time.Now).Estimate(), nil
}

// Run runs the experiment.
func (x *Experiment) Run(o Options) (*Report, error) {
	o.N = x.N
	switch x.Name {
	case sumName:
		return Sum(o)
	case gemvName:
		return Gemv(o)
	case ozakiName:
		return Ozaki(o, x.Sizes, x.Seeds, x.Phi)
	case qdName:
		return QD(o)
	}
	return nil, fmt.Errorf("no experiment is called %q", x.Name)
}
