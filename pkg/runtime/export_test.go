package runtime

import "context"

// Overdue picks what is purged.
var Overdue = overdue

// PurgeDeadOnce is one round of the retention of dead letters.
func (r *Runtime) PurgeDeadOnce(ctx context.Context) error { return r.purgeDeadOnce(ctx) }

// PurgeKeysOnce is one round of the retention of idempotency keys.
func (r *Runtime) PurgeKeysOnce(ctx context.Context) error { return r.purgeKeysOnce(ctx) }
