package record

// How much is deleted of a journal.
const (
	// JournalSlack is how many entries more than configured a journal has before
	// some are deleted, so that it is not every commit that deletes.
	JournalSlack = 32
	// JournalSlice bounds the entries that one transaction deletes of a journal: a
	// delete of many keys stalls etcd (etcd note 21).
	JournalSlice = 256
)

// How much a release looks at of the queue.
const (
	MaxSlices  = 24 // queue slices compared in one release
	QueueBatch = 10 // items of one slice read at once
)
