package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/gridfiles"
	"github.com/halfulp/halfulp/mpi"
)

// Several processes under mpiexec run the same command. All read the operands, products and sums
// are shared, and only the first prints and writes. Where matrices live on the grid of --grid, all
// read and write parts of their files.

// team is the processes, nil for a single process.
var team *processes

// processes is the state of a process about all that mpiexec started together.
type processes struct {
	all  *mpi.Comm
	end  *mpi.Comm // of the same processes: used only when they end
	vote *mpi.Comm // of the same processes; an interrupted process leaves it

	mu      sync.Mutex
	decided bool // a later signal has no effect

	ending sync.Mutex // of finish
}

// patience is how long a process that failed waits for the others to fail in the same way.
const patience = 2 * time.Second

// forwarding is the time that mpiexec has to forward the output of a process: MPI_Abort overtakes
// it.
const forwarding = 500 * time.Millisecond

// shares are the commands whose work processes share.
var shares = []string{"gemm", "gemv", "syrk", "sum", "asum", "dot", "nrm2"}

// solvers are the commands whose work processes share if --grid requests it. Of order 600 at 424
// bits, two processes took 0.9 to 1.4 times as long as one with one thread, and ten times as long
// for one right-hand side.
var solvers = []string{"solve", "inv", "det", "chol", "lu", "qr"}

// multiply are the shared commands that consist of products, which each process may compute on a
// GPU.
var multiply = append([]string{"gemm", "syrk"}, solvers...)

// residents are the commands whose operands and results live on the grid of --grid. syrk is not
// among them: it copies one triangle of its result to the other, entry by entry.
var residents = append([]string{"gemm"}, solvers...)

// first reports whether this process prints and writes.
func (p *processes) first() bool { return p == nil || p.all.Rank() == 0 }

// runTogether runs a program in a process that mpiexec started, and ends it.
func runTogether(p cli.Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if slices.Contains(args, files.Stdio) && mpi.LaunchedFirst() {
		stdin = ahead(stdin)
	}
	all, err := distributed.Init()
	if err != nil { // there are no processes to agree with
		fmt.Fprintf(stderr, "halfulp: started by mpiexec: %v\n", err)
		return cli.ExitFailed
	}
	if all.Size() == 1 {
		mpi.Exit(p.Run(args, stdin, stdout, stderr))
	}
	team = &processes{all: all}
	var said bytes.Buffer
	if !team.first() {
		stdout, stderr = io.Discard, &said
	}
	status := cli.ExitFailed
	if stdin, err = team.join(args, stdin); err != nil {
		fmt.Fprintf(stderr, "halfulp: %v\n", err)
	} else {
		// Signals are handled until the process ends: mpiexec then kills the others, which remove
		// their files before.
		ctx, _ := cli.WithSignals(context.Background(), func(status int) { team.finish(status, "") })
		ctx, stop := team.watch(ctx)
		said := false
		p.Said = func(err error) bool {
			said = errors.Is(err, mpi.ErrLeft)
			return said
		}
		status = p.RunContext(ctx, args, stdin, stdout, stderr)
		if said {
			status = cli.ExitOK // the process that left sets the status
		}
		stop()
	}
	team.finish(status, said.String())
	return status
}

// watch makes an interrupt of one process an interrupt of all: the others clean up like this one,
// and do not wait in vain. It returns a context that such an interrupt cancels, and a function that
// ends the watch.
func (p *processes) watch(ctx context.Context) (watched context.Context, stop func()) {
	interrupted := context.AfterFunc(ctx, p.leave)
	watched, cancel := context.WithCancelCause(ctx)
	watching, end := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := p.vote.Left(watching); errors.Is(err, mpi.ErrLeft) && ctx.Err() == nil {
			cancel(err)
		}
	}()
	return watched, func() {
		end()
		<-over
		interrupted()
	}
}

// leave informs the others that this process fails, unless all have decided that it comes too late.
func (p *processes) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.decided && p.vote != nil {
		_ = p.vote.Leave() // mpiexec ends processes that are not informed
	}
}

// decide returns nil in all processes when the output of the first one is complete, before a file
// gets its name. It returns an error in all of them if one has an error or was interrupted. A later
// signal has no effect.
func (p *processes) decide(ctx context.Context, err error) error {
	if p == nil {
		return err
	}
	return gridfiles.Decide(ctx, p.vote, err, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.decided = ctx.Err() == nil
		return ctx.Err()
	})
}

// same returns an error in all processes if one could not read a file, or if they did not read the
// same matrix from it.
func (p *processes) same(opt *matfile.Options, name string, z any, err error) error {
	if p == nil {
		return err
	}
	if err := gridfiles.Agree(opt.Context, p.all, err); err != nil {
		return err
	}
	var sum uint64
	threads := opt.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	switch m := z.(type) {
	case *halfulp.Matrix:
		sum, err = gridfiles.Checksum(opt.Context, threads, m)
	case *matfile.Sparse:
		sum, err = gridfiles.ChecksumSparse(opt.Context, threads, m)
	case *matfile.Exact:
		if m.Matrix != nil {
			sum, err = gridfiles.Checksum(opt.Context, threads, m.Matrix)
			break
		}
		h := fnv.New64a()
		for _, row := range m.Values {
			fmt.Fprintln(h, row) // *big.Rat prints as a fraction
		}
		sum = h.Sum64()
	}
	if err != nil {
		return err
	}
	return gridfiles.Same(opt.Context, p.all, shown(name), sum, opt.Info.Stats, opt.Info.Flat, opt.Info.Kind)
}

// ahead begins at once to read all of r: mpiexec abandons a process that lets its input wait.
func ahead(r io.Reader) io.Reader {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(r)
		done <- result{text, err}
	}()
	from, to := io.Pipe()
	go func() {
		r := <-done
		_, _ = to.Write(r.text) // it fails only if the reader has stopped reading
		to.CloseWithError(r.err)
	}()
	return from
}

// join ensures that all processes run the same command of the same program, divides processors
// among the processes of one machine, and gives all of them standard input if they read it.
func (p *processes) join(args []string, stdin io.Reader) (io.Reader, error) {
	ctx := context.Background()
	var err error
	for _, c := range []**mpi.Comm{&p.end, &p.vote} {
		if *c, err = p.all.Split(0, p.all.Rank()); err != nil {
			return nil, err
		}
	}
	same := hash(cli.Version() + "\x00" + buildOf(cli.Version(), "/proc/self/exe") + "\x00" + strings.Join(args, "\x00"))
	least, most := []int64{same}, []int64{same}
	if err := p.all.Allreduce(ctx, mpi.Min, least); err != nil {
		return nil, err
	}
	if err := p.all.Allreduce(ctx, mpi.Max, most); err != nil {
		return nil, err
	}
	if least[0] != most[0] {
		return nil, fmt.Errorf("the processes do not all run the same command of the same version of halfulp (this is %s)", cli.Version())
	}
	machine, err := grid.Machine(ctx, p.all)
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/machine.Size))
	if !slices.Contains(args, files.Stdio) {
		return stdin, nil
	}
	var text []byte
	length := []int64{0}
	var failed error
	if p.first() {
		text, failed = io.ReadAll(stdin)
		length[0] = int64(len(text))
	}
	if err := p.all.Allreduce(ctx, mpi.Sum, length); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("standard input: %w", failed)
	}
	if !p.first() {
		text = make([]byte, length[0])
	}
	return bytes.NewReader(text), p.all.Bcast(ctx, text, 0)
}

// buildOf returns the beginning of a program file, which contains its build ID, if several builds
// may have the same version. It distinguishes the program from others of its version.
func buildOf(version, path string) string {
	if !strings.Contains(version, "devel") && !strings.Contains(version, "dirty") {
		return "" // on machines of several kinds the files of one version differ
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 4096)) // a shorter file will do
	return string(text)
}

// hash returns 62 bits of a text.
func hash(text string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return int64(h.Sum64() >> 2)
}

// finish ends this process together with the others, with the largest exit status of all. A process
// that failed while others wait for it in vain prints its error, and ends them; they clean up first
// if they can. finish does not return: a second call, as after a second signal, waits for the end.
func (p *processes) finish(status int, said string) {
	p.ending.Lock()
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if status != cli.ExitOK {
		ctx, cancel = context.WithTimeout(ctx, 2*patience)
		defer time.AfterFunc(patience, p.leave).Stop()
	}
	defer cancel()
	// the status, and the first process that has it
	worst := []int64{int64(status*p.all.Size() + p.all.Size() - 1 - p.all.Rank())}
	err := context.DeadlineExceeded
	if p.end != nil {
		err = p.end.Allreduce(ctx, mpi.Max, worst)
	}
	if err != nil {
		if !p.first() && said != "" {
			fmt.Fprintf(os.Stderr, "process %d: %s", p.all.Rank(), said)
		}
		files.RemoveTemporaries()
		time.Sleep(forwarding)
		p.all.Abort(max(status, cli.ExitFailed))
	}
	speaker := p.all.Size() - 1 - int(worst[0])%p.all.Size()
	if status != cli.ExitOK && speaker == p.all.Rank() && !p.first() && said != "" {
		fmt.Fprintf(os.Stderr, "process %d: %s", p.all.Rank(), said)
	}
	p.mu.Lock() // leave sends nothing after the end
	mpi.Exit(int(worst[0]) / p.all.Size())
}

// device returns the device of a command, given the device of its flags. If processes can share the
// work, it is the device of all of them, on which each computes on the device of the flags, or on
// its share of several GPUs.
func (p *processes) device(command string, how *runFlags) (halfulp.Device, error) {
	switch {
	case p == nil && how.Grid != (gridFlag{}):
		return "", cli.Misuse("--grid is for several processes, which mpiexec starts: mpiexec -n %d halfulp %s ...", how.Grid[0]*how.Grid[1], command)
	case p == nil || how.Method != "auto" && how.Method != "residue" && how.Method != "direct":
		return halfulp.Device(how.Device), nil
	case !slices.Contains(shares, command) && (how.Grid == (gridFlag{}) || !slices.Contains(solvers, command)):
		return halfulp.Device(how.Device), nil
	}
	n, err := place.ParseName(how.Device)
	if err != nil {
		return "", err
	}
	multiplies := slices.Contains(multiply, command)
	if n.Kind == place.MPI || n.Kind == place.CUDA && !multiplies || multiplies && how.Method == "direct" {
		return halfulp.Device(how.Device), nil
	}
	return distributed.Device(how.Grid[0], how.Grid[1]), distributed.Use(halfulp.Device(how.Device))
}

// resident returns the grid on which operands and results of a command live, nil for the host. It
// is a grid if --grid requests it and the command uses entries only in products and solutions.
func (p *processes) resident(command string, how *runFlags) (*grid.Grid, error) {
	n, err := place.ParseName(how.Device)
	if err != nil || p == nil || n.Kind != place.MPI || how.Grid == (gridFlag{}) || !slices.Contains(residents, command) {
		return nil, err
	}
	at, err := n.Open()
	if err != nil {
		return nil, err
	}
	return at.(*grid.Grid), nil
}

// gridFlag is the numbers of rows and columns of a grid of processes.
type gridFlag [2]int

func (g *gridFlag) UnmarshalText(text []byte) error {
	rows, cols, ok := strings.Cut(string(text), "x")
	p, err := strconv.ParseUint(rows, 10, 16)
	q, err2 := strconv.ParseUint(cols, 10, 16)
	if !ok || err != nil || err2 != nil || p == 0 || q == 0 {
		return fmt.Errorf("%q is no grid of processes: want rows x columns, such as 2x3", text)
	}
	*g = gridFlag{int(p), int(q)}
	return nil
}
