// Package rns is the residue number system floating-point arithmetic of the papers
// on MPRES and MPRES-BLAS (Isupov, Knyazkov, Kuvaev 2018 and 2020).
package rns
