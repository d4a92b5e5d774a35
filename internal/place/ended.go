package place

import (
	"context"
	"errors"
)

// Ended returns the error of ctx if it has ended. It is called before a computation begins at a
// place, nil for the host. If processes share the place, Ended also makes this process leave, so
// that the others do not wait for it.
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
