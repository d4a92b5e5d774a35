package cuda

// SetStaging sets the size of the staging buffers of devices that are opened later, and
// returns a function that sets it back.
func SetStaging(bytes int) (restore func()) {
	before := stagingBytes
	stagingBytes = bytes
	return func() { stagingBytes = before }
}
