package outgoing

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// Explain says why a request was not answered, as instances keep it, around the
// error itself. It says nothing of the network that the node is in, neither addresses
// nor who resolves names: who reads instances need not know. The node's log has all of
// it.
func Explain(cause error) error { return &failure{cause} }

type failure struct{ cause error }

func (f *failure) Unwrap() error { return f.cause }

func (f *failure) Error() string {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(f.cause, ErrPrivateAddress):
		return ErrPrivateAddress.Error() + "; allow it with --allow-private-addresses"
	case errors.As(f.cause, &name) && name.IsNotFound:
		return "no server is known by this name"
	case errors.As(f.cause, &name) && name.IsTimeout:
		return "the server's name was not resolved in time"
	case errors.As(f.cause, &name):
		return "the server's name could not be resolved"
	case errors.As(f.cause, &op):
		return fmt.Sprintf("%s: %v", op.Op, op.Err) // the rest of it are addresses
	}
	return WithoutURL(f.cause).Error()
}

// WithoutURL gives an error without what was asked for, which may be another server's
// URL, behind a redirect, and may have in it what is not for every reader.
func WithoutURL(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}
