package peer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Python is a sub-process that runs a script of commands: it reads a command a line and answers
// each with a line.
type Python struct {
	Version string // the answer to "version"
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// StartPython starts a script in an interpreter.
func StartPython(interpreter, script string) (*Python, error) {
	p := &Python{cmd: exec.Command(interpreter, "-c", script)}
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
	if p.Version, err = p.Ask("version"); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// Stop ends the process.
func (p *Python) Stop() {
	p.in.Close()
	_ = p.cmd.Wait() // it says nothing at its end that matters
}

// Ask returns the answer to a command; one that begins with "no" is an error.
func (p *Python) Ask(command string) (string, error) {
	// A process that cannot import its library has answered and gone.
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

// Load asks the script to load a temporary file, which put writes.
func (p *Python) Load(put func(w io.Writer)) error {
	file, err := os.CreateTemp("", "halfulp-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	w := bufio.NewWriter(file)
	put(w)
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		return err
	}
	_, err = p.Ask("load " + file.Name())
	return err
}
