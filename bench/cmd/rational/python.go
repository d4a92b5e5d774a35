package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
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
	if p.version, err = p.ask("version"); err != nil {
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

// time returns the times of a run of some computations, each.
func (p *python) time(name string, times int) (t seconds, err error) {
	text, err := p.ask(fmt.Sprint("time ", name, " ", times))
	if err == nil {
		_, err = fmt.Sscan(text, &t.processor, &t.wall)
	}
	return t, err
}
