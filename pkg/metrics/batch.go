package metrics

// EtcdBatch observes a proposal to etcd and how many requests share it.
func (m *Metrics) EtcdBatch(kind BatchKind, requests int) {
	if m == nil {
		return
	}
	m.etcdBatches.WithLabelValues(string(kind)).Observe(float64(requests))
}

// EtcdBatchRefused counts a shared proposal that etcd refused as a whole.
func (m *Metrics) EtcdBatchRefused(kind BatchKind) {
	if m == nil {
		return
	}
	m.etcdBatchesRefused.WithLabelValues(string(kind)).Inc()
}
