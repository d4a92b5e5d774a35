// Package budget bounds the working memory of a routine that proves its results.
package budget
