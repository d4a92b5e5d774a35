package record

import (
	"bytes"
	"os/exec"
	"strings"
)

// Commit returns the commit of the working directory's repository, and whether tracked or new files
// differ from it.
func Commit() (commit string, dirty bool) {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown", true
	}
	status, err := exec.Command("git", "status", "--porcelain").Output()
	return strings.TrimSpace(string(head)), err != nil || len(bytes.TrimSpace(status)) > 0
}
