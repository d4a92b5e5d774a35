// Package hugepage is about the pages of memory under large slices.
package hugepage

// Size is the size of large pages in bytes, on all systems but a few.
const Size = 1 << 21
