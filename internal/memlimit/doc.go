// Package memlimit finds how much memory the system allows this process.
package memlimit
