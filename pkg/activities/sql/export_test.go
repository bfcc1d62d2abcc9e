package sql

// Pools is how many pools there are.
func Pools(d *Databases) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pools)
}

// Take holds a pool as a statement does.
func Take(d *Databases, connection string) (any, func(), error) { return d.take(connection, "db") }
