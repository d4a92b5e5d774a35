package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/halfulp/halfulp"

// packages are those that other modules can import, by folder.
var packages = []string{".", "linsolve", "rational", "stats", "gallery", "matfile", "cuda", "distributed", "mpi", "rns", "expansion", "ozaki"}

// packageReference writes the documentation of the packages, and the table of contents.
func packageReference(root string, files map[string][]byte) error {
	table := "# Reference\n\n" + generatedNote + "\n\n| | |\n|---|---|\n| [the program's commands](program.md) | `halfulp COMMAND --help` of all |\n"
	for _, dir := range packages {
		p, err := readPackage(root, dir)
		if err != nil {
			return err
		}
		files[p.Name+".md"] = p.markdown()
		table += fmt.Sprintf("| [package %s](%s.md) | %s |\n", p.Name, p.Name, strings.TrimRight(p.Synopsis(p.Doc), ",:"))
	}
	files["README.md"] = []byte(table)
	return nil
}

// goPackage is a package whose documentation is written.
type goPackage struct {
	*doc.Package
	fset *token.FileSet
	out  bytes.Buffer
}

func readPackage(root, dir string) (*goPackage, error) {
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	p := &goPackage{fset: token.NewFileSet()}
	var files []*ast.File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		// Public names stand in files for all machines.
		if !strings.HasSuffix(name, "_test.go") && regexp.MustCompile(`(?m)^//go:build `).Match(text) {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	p.Package, err = doc.NewFromFiles(p.fset, files, filepath.ToSlash(filepath.Join(module, dir)))
	if err == nil && p.Doc == "" {
		err = errors.New("no documentation")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return p, nil
}

// markdown returns the package's page.
func (p *goPackage) markdown() []byte {
	p.printf("# Package %s\n\n%s\n\n```go\nimport %q\n```\n\n", p.Name, generatedNote, p.ImportPath)
	p.comment(p.Doc, 2)
	p.examples(p.Examples)
	p.values("Constants", p.Consts)
	p.values("Variables", p.Vars)
	// Every routine returns statistics: those that return nothing else belong to no type.
	for _, t := range p.Types {
		if t.Name == "Stats" {
			p.Funcs = append(p.Funcs, t.Funcs...)
			t.Funcs = nil
		}
	}
	slices.SortFunc(p.Funcs, func(a, b *doc.Func) int { return cmp.Compare(a.Name, b.Name) })
	if len(p.Funcs) > 0 {
		p.printf("## Functions\n\n")
	}
	for _, f := range p.Funcs {
		p.function(f)
	}
	if len(p.Types) > 0 {
		p.printf("## Types\n\n")
	}
	for _, t := range p.Types {
		p.printf("### type %s\n\n", t.Name)
		p.declaration(t.Decl)
		p.comment(t.Doc, 4)
		p.examples(t.Examples)
		for _, group := range [][]*doc.Value{t.Consts, t.Vars} {
			for _, v := range group {
				p.declaration(v.Decl)
				p.comment(v.Doc, 4)
			}
		}
		for _, f := range t.Funcs {
			p.function(f)
		}
		for _, f := range t.Methods {
			p.function(f)
		}
	}
	return append(bytes.TrimRight(p.out.Bytes(), "\n"), '\n')
}

func (p *goPackage) printf(text string, arg ...any) { fmt.Fprintf(&p.out, text, arg...) }

func (p *goPackage) values(title string, list []*doc.Value) {
	if len(list) > 0 {
		p.printf("## %s\n\n", title)
	}
	for _, v := range list {
		p.declaration(v.Decl)
		p.comment(v.Doc, 4)
	}
}

func (p *goPackage) function(f *doc.Func) {
	name := f.Name
	if f.Recv != "" {
		name = strings.TrimPrefix(f.Recv, "*") + "." + name
	}
	p.printf("### func %s\n\n", name)
	p.declaration(f.Decl)
	p.comment(f.Doc, 4)
	p.examples(f.Examples)
}

// declaration writes Go code without its documentation, which stands below.
func (p *goPackage) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Doc, d.Body = nil, nil
	case *ast.GenDecl:
		d.Doc = nil
	}
	p.code(d, nil)
}

func (p *goPackage) code(node any, comments []*ast.CommentGroup) {
	var b bytes.Buffer
	if comments != nil {
		node = &printer.CommentedNode{Node: node, Comments: comments}
	}
	if err := format.Node(&b, p.fset, node); err != nil {
		panic(err) // it was parsed
	}
	text := b.String()
	if strings.HasPrefix(text, "{\n") { // the body of an example
		text = strings.ReplaceAll("\n"+strings.TrimSuffix(strings.TrimPrefix(text, "{\n"), "}"), "\n\t", "\n")[1:]
		text, _, _ = strings.Cut(text, "// Output:")
	}
	p.printf("```go\n%s\n```\n\n", strings.TrimRight(text, "\n"))
}

func (p *goPackage) examples(list []*doc.Example) {
	for _, e := range list {
		p.printf("Example%s:\n\n", strings.TrimRight(" "+strings.ReplaceAll(e.Suffix, "_", " "), " "))
		p.comment(e.Doc, 4)
		p.code(e.Code, e.Comments)
		if e.Output != "" {
			p.printf("prints\n\n```text\n%s\n```\n\n", strings.TrimRight(e.Output, "\n"))
		}
	}
}

// comment writes documentation, its headings at the given level.
func (p *goPackage) comment(text string, level int) {
	r := p.Printer()
	r.HeadingLevel = level
	r.HeadingID = func(*comment.Heading) string { return "" }
	r.DocLinkURL = p.link
	for line := range strings.Lines(string(r.Markdown(p.Parser().Parse(text)))) {
		if !strings.HasPrefix(strings.TrimLeft(line, " "), "\t") { // no code
			line = strings.ReplaceAll(line, `\<`, "&lt;") // which all dialects of Markdown know
		}
		p.out.WriteString(line)
	}
	p.out.WriteByte('\n')
}

// link is where a name is documented.
func (p *goPackage) link(l *comment.DocLink) string {
	if l.ImportPath != "" && l.ImportPath != p.ImportPath {
		rest, ours := strings.CutPrefix(l.ImportPath, module)
		if !ours {
			return l.DefaultURL("https://pkg.go.dev")
		}
		return filepath.Base(cmp.Or(rest, module)) + ".md" // its headings lead further
	}
	name := l.Name
	if l.Recv != "" {
		name = l.Recv + "." + name
	}
	kind := "variables"
	switch {
	case l.Recv != "" || p.hasFunc(name):
		kind = "func-" + anchor(name)
	case p.hasType(name):
		kind = "type-" + anchor(name)
	case p.constant(name) != "":
		kind = p.constant(name)
	}
	return "#" + kind
}

// anchor is how a name stands in the anchor of a heading.
func anchor(name string) string { return strings.ToLower(strings.ReplaceAll(name, ".", "")) }

func (p *goPackage) hasFunc(name string) bool {
	for _, f := range p.Funcs {
		if f.Name == name {
			return true
		}
	}
	for _, t := range p.Types {
		for _, f := range t.Funcs {
			if f.Name == name {
				return true
			}
		}
	}
	return false
}

func (p *goPackage) hasType(name string) bool {
	for _, t := range p.Types {
		if t.Name == name {
			return true
		}
	}
	return false
}

// constant is the anchor of the section that declares a constant or variable.
func (p *goPackage) constant(name string) string {
	declares := func(list []*doc.Value) bool {
		for _, v := range list {
			for _, n := range v.Names {
				if n == name {
					return true
				}
			}
		}
		return false
	}
	for _, t := range p.Types {
		if declares(t.Consts) || declares(t.Vars) {
			return "type-" + anchor(t.Name)
		}
	}
	if declares(p.Consts) {
		return "constants"
	}
	return ""
}
