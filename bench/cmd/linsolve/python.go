package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
)

//go:embed flint.py
var script string

// python is a sub-process that runs python-flint.
type python struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	version string
}

func startPython(interpreter string) (*python, error) {
	p := &python{cmd: exec.Command(interpreter, "-c", script)}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.version, err = p.ask("version")
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *python) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // it says nothing at its end that matters
}

// ask returns the answer to a command; one that begins with "no" is an error.
func (p *python) ask(command string) (string, error) {
	// A process that cannot import python-flint has answered and gone.
	_, failed := fmt.Fprintln(p.in, command)
	if !p.out.Scan() {
		return "", errors.Join(failed, errors.New("no answer"))
	}
	text := p.out.Text()
	if why, ok := strings.CutPrefix(text, "no "); ok {
		return "", errors.New(why)
	}
	return text, nil
}

// load hands the problem over.
func (p *python) load(of *problem) error {
	file, err := os.CreateTemp("", "linsolve-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, of.n, of.bits)
	put := func(m *halfulp.Matrix, i, j int) {
		x := m.Big(i, j)
		low := x.MantExp(nil) - int(x.MinPrec())
		z, _ := x.SetMantExp(x, -low).Int(nil)
		fmt.Fprintln(w, z.Text(16), low)
	}
	for i := range of.n {
		for j := range of.n {
			put(of.a, i, j)
		}
	}
	for i := range of.n {
		put(of.b, i, 0)
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		return err
	}
	_, err = p.ask("load " + file.Name())
	return err
}

// time returns the processor time of a run.
func (p *python) time(name string) (float64, error) {
	text, err := p.ask("time " + name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

func pythonMethods() (z []method) {
	for _, m := range [][2]string{
		{"product", "product"}, {"solve", "solve"}, {"approximate solve", "approx"}, {"inverse", "inverse"}, {"determinant", "det"},
	} {
		z = append(z, method{name: "FLINT 3 " + m[0], slow: true, python: m[1]})
	}
	return z
}
