//go:build !nogpu

package main

import _ "github.com/halfulp/halfulp/cuda" // GPUs as devices
