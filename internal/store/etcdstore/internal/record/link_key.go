package record

// LinkKey is the value of meta/link-key.
type LinkKey struct {
	Key []byte `json:"key"`
}

// StoredAs is what errors call it.
func (LinkKey) StoredAs() string { return "etcdstore.linkKey" }
