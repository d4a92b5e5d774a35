//go:build (linux || windows) && (amd64 || arm64)

package cudadrv

import (
	"sync"
	"unsafe"
)

// Launches that are repeated. The driver takes 3.1 µs of the host for a launch, and 1.4 µs for the
// launch of a graph of one kernel with other parameters, on an H200's host. Both leave the same
// work to the device (bench/records/h200-short-calls.json.gz, "floor"). So a kernel that has
// started several times in a stream gets a graph of its own there.

// fewLaunches is how often a kernel starts in a stream before it gets a graph, which takes the
// driver tens of µs. mostGraphs bounds the graphs, which stay until the process ends.
const (
	fewLaunches = 4
	mostGraphs  = 1 << 10
)

// repeated holds the launches in streams of the default priority, which live as long as their
// device. Launches of other streams, of which there are many, are not repeated: two launches of a
// graph never run at the same time.
type repeated struct {
	mu      sync.Mutex
	streams map[Stream]map[Function]*again // guarded by mu
	modules map[Module][]Function          // guarded by mu
	graphs  int                            // guarded by mu
	off     bool                           // a call failed; guarded by mu
}

// again is the graph of a kernel in a stream.
type again struct {
	launches    int
	graph, node uintptr
	exec        uintptr // 0: none yet
}

// follow has launches in a stream repeated.
func (r *repeated) follow(s Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.streams == nil {
		r.streams, r.modules = map[Stream]map[Function]*again{}, map[Module][]Function{}
	}
	r.streams[s] = map[Function]*again{}
}

// belongs records the module of a kernel.
func (r *repeated) belongs(f Function, m Module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.modules != nil {
		r.modules[m] = append(r.modules[m], f)
	}
}

// ofStream removes and returns the graphs of a stream.
func (r *repeated) ofStream(s Stream) (list []*again) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.streams[s] {
		list = append(list, a)
	}
	delete(r.streams, s)
	return r.removed(list)
}

// ofModule removes and returns the graphs of a module's kernels, whose handles other kernels may
// get.
func (r *repeated) ofModule(m Module) (list []*again) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.modules[m] {
		for _, kernels := range r.streams {
			if a := kernels[f]; a != nil {
				list = append(list, a)
			}
			delete(kernels, f)
		}
	}
	delete(r.modules, m)
	return r.removed(list)
}

// removed returns those of the list that have graphs.
func (r *repeated) removed(list []*again) (made []*again) {
	for _, a := range list {
		if a.exec != 0 {
			made = append(made, a)
			r.graphs--
		}
	}
	return made
}

// of returns the graph of f in s, if it is to be launched or made.
func (r *repeated) of(f Function, s Stream) *again {
	r.mu.Lock()
	defer r.mu.Unlock()
	kernels, ok := r.streams[s]
	if !ok || r.off {
		return nil
	}
	a := kernels[f]
	if a == nil {
		a = new(again)
		kernels[f] = a
	}
	if a.exec != 0 {
		return a
	}
	if a.launches++; a.launches <= fewLaunches || r.graphs == mostGraphs {
		return nil
	}
	r.graphs++
	return a
}

// stop ends the use of graphs.
func (r *repeated) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = true
}

// kernelNode is CUDA_KERNEL_NODE_PARAMS_v2.
type kernelNode struct {
	f           Function
	grid, block Dim
	shared      uint32
	params      unsafe.Pointer
	_           unsafe.Pointer // extra
	_, _        uintptr        // CUkernel, CUcontext: of f
}

// launchAgain starts f by its graph, which it makes if f has started often enough, and reports
// whether it did. If the driver refuses a graph, launches go on without.
func (d *native) launchAgain(f Function, grid, block Dim, shared uint32, s Stream, params []unsafe.Pointer) (started bool, err error) {
	if d.graphLaunch.addr == 0 {
		return false, nil
	}
	a := d.repeated.of(f, s)
	if a == nil {
		return false, nil
	}
	n := &kernelNode{f: f, grid: grid, block: block, shared: shared, params: unsafe.Pointer(unsafe.SliceData(params))}
	if !d.ready(a, n) {
		d.repeated.stop()
		return false, nil
	}
	return true, d.do(d.graphLaunch, a.exec, uintptr(s))
}

// ready sets the parameters of a graph, which it makes at the first call, and reports whether the
// driver took them.
func (d *native) ready(a *again, n *kernelNode) bool {
	if a.exec == 0 {
		return d.makeGraph(a, n) == nil
	}
	return d.do(d.graphExecSetParams, a.exec, a.node, uintptr(addr(n))) == nil
}

// makeGraph makes a graph of one node.
func (d *native) makeGraph(a *again, n *kernelNode) error {
	var graph, node, exec uintptr
	if err := d.do(d.graphCreate, uintptr(addr(&graph)), 0); err != nil {
		return err
	}
	if err := d.do(d.graphAddKernelNode, uintptr(addr(&node)), graph, 0, 0, uintptr(addr(n))); err != nil {
		return err
	}
	if err := d.do(d.graphInstantiate, uintptr(addr(&exec)), graph, 0); err != nil {
		return err
	}
	a.graph, a.node, a.exec = graph, node, exec
	return nil
}

// destroy destroys graphs whose launches are done.
func (d *native) destroy(list []*again) error {
	for _, a := range list {
		if err := d.do(d.graphExecDestroy, a.exec); err != nil {
			return err
		}
		if err := d.do(d.graphDestroy, a.graph); err != nil {
			return err
		}
	}
	return nil
}
