package det

// LeastTraceRows is leastTraceRows, for tests.
const LeastTraceRows = leastTraceRows

// TraceBytes is traceBytes, for tests.
var TraceBytes = traceBytes
