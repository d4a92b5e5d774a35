// Package memlimit determines how much memory the system allows this process.
package memlimit
