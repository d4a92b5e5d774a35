// Package hugepage is about the pages of memory under large slices.
package hugepage
