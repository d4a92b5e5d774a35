package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recordName matches the name of a record of measurements in a text.
var recordName = regexp.MustCompile(`\brecords/([A-Za-z0-9][A-Za-z0-9.-]*\.(?:json\.gz|json|txt))\b`)

// TestRecords checks that the records of bench/records that comments and documents name exist, and
// that each record is named.
func TestRecords(t *testing.T) {
	const root, folder = "../..", "../../bench/records"
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, r := range list {
		named[r.Name()] = false
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && d.Name() != "." && d.Name() != ".." || path == folder {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".cu", ".cuh", ".py", ".sh", ".yml":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range recordName.FindAllStringSubmatch(string(text), -1) {
			if _, ok := named[m[1]]; ok {
				named[m[1]] = true
			} else if !strings.Contains(m[1], "NAME") {
				t.Errorf("%s names bench/records/%s, which does not exist", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range named {
		if !ok {
			t.Errorf("nothing names bench/records/%s", name)
		}
	}
}
