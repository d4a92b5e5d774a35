// Package pages is about the pages of memory under large slices.
package pages
