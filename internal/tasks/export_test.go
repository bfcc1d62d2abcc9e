package tasks

// Watches tells whether the watch has told that it tells of all from now on: from there on nothing is read twice.
func (d *Desk) Watches() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.watching
}
