package place

import (
	"context"
	"errors"
)

// Ended returns the error of a context that has ended, before anything was begun at a place, or on
// the host for nil. Where processes share the place, the others do not wait for this one then.
func Ended(ctx context.Context, at Place) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if shared, ok := Part[interface{ Leave() error }](at); ok {
		return errors.Join(err, shared.Leave())
	}
	return err
}
