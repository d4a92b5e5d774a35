package peer

import "sync"

// Split cuts [0, total) into one contiguous range a thread and runs work on all of them at once.
func Split(total, threads int, work func(low, high int)) {
	if threads <= 1 || total <= 1 {
		work(0, total)
		return
	}
	var wait sync.WaitGroup
	for t := range threads {
		low, high := total*t/threads, total*(t+1)/threads
		wait.Go(func() { work(low, high) })
	}
	wait.Wait()
}
