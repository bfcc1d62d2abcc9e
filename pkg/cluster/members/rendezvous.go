package members

// Preferred is the live node that should look after key, by rendezvous hashing: when a node comes
// or goes, only its own share moves. Draining nodes are passed over unless all are draining. It is
// fallback while no node is known.
func (m *List) Preferred(key, fallback string) string { return preferred(m.Nodes(), key, fallback) }

func preferred(nodes []Node, key, fallback string) string {
	best, bestScore, bestDraining := fallback, uint64(0), true
	found := false
	for _, n := range nodes {
		score := rendezvousScore(n.ID, key)
		better := !found ||
			bestDraining && !n.Draining ||
			bestDraining == n.Draining && (score > bestScore || score == bestScore && n.ID < best)
		if better {
			best, bestScore, bestDraining, found = n.ID, score, n.Draining, true
		}
	}
	return best
}

// rendezvousScore is FNV-1a with the finalizer of MurmurHash3: all nodes, also
// of different versions, must compute the same, and plain FNV mixes the last
// bytes too little to spread keys evenly.
func rendezvousScore(node, key string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(node) {
		h = (h ^ uint64(node[i])) * prime
	}
	h *= prime // a zero byte between the two
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}
