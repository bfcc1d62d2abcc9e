package etcdmembers

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/base"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
)

const balancerName = "weft_etcd_members"

func init() { //nolint:gochecknoinits // gRPC's table of balancers may be written at no other time
	balancer.Register(builder{})
}

type builder struct{}

func (builder) Name() string { return balancerName }

type config struct {
	serviceconfig.LoadBalancingConfig `json:"-"`

	Members string `json:"members"`
}

func (builder) ParseConfig(raw json.RawMessage) (serviceconfig.LoadBalancingConfig, error) {
	c := &config{}
	err := json.Unmarshal(raw, c)
	return c, err
}

func (builder) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	c := &chooser{}
	c.Balancer = base.NewBalancerBuilder(balancerName, c, base.Config{}).Build(cc, opts)
	return c
}

// chooser is the balancer of one client: gRPC's own keeps a connection to each
// address, and this one says which of them a call takes. A client dials a single
// member with the same options when it asks that one for something: there is nothing
// to choose then, and nothing is asked beside.
type chooser struct {
	balancer.Balancer

	m    *Members
	main bool // it is the client's own
}

func (c *chooser) UpdateClientConnState(s balancer.ClientConnState) error {
	cfg, ok := s.BalancerConfig.(*config)
	if !ok {
		return fmt.Errorf("etcdmembers: configuration %v", s.BalancerConfig)
	}
	m, ok := registered.Load(cfg.Members)
	if !ok {
		return fmt.Errorf("etcdmembers: %s is closed", cfg.Members)
	}
	c.m = m.(*Members)
	c.main = c.m.main.CompareAndSwap(nil, c) || c.m.main.Load() == c
	addresses, names := []resolver.Address{}, []string{}
	for _, e := range s.ResolverState.Endpoints {
		for _, a := range e.Addresses {
			addresses, names = append(addresses, a), append(names, a.Addr)
		}
	}
	s.ResolverState.Addresses = addresses
	if c.main {
		c.m.endpoints(names)
	}
	return c.Balancer.UpdateClientConnState(s)
}

func (c *chooser) Close() {
	if c.main {
		c.m.main.CompareAndSwap(c, nil)
	}
	c.Balancer.Close()
}

// Build makes the picker of the connections that are ready.
func (c *chooser) Build(info base.PickerBuildInfo) balancer.Picker {
	if len(info.ReadySCs) == 0 {
		return base.NewErrPicker(balancer.ErrNoSubConnAvailable)
	}
	p := &picker{}
	for conn, at := range info.ReadySCs {
		if !c.main {
			p.ways = append(p.ways, way{conn, nil})
			continue
		}
		made, _ := conn.GetOrBuildProducer(c.m.probes) // it ends with the connection
		l := made.(*link)
		l.begin.Do(func() { c.m.begin(l, at.Address.Addr) })
		p.ways = append(p.ways, way{conn, l})
	}
	return p
}

type picker struct {
	ways []way
	next atomic.Uint32
}

type way struct {
	conn balancer.SubConn
	link *link // nil: nobody asks on it
}

// Pick takes one of the best, in turn.
func (p *picker) Pick(balancer.PickInfo) (balancer.PickResult, error) {
	best, n := rank(0), uint32(0)
	for _, w := range p.ways {
		switch r := w.link.is(); {
		case r > best:
			best, n = r, 1
		case r == best:
			n++
		}
	}
	// If a rank changes now, it is any of them.
	turn := p.next.Add(1)
	chosen := p.ways[turn%uint32(len(p.ways))]
	skip := turn % max(n, 1)
	for _, w := range p.ways {
		if w.link.is() != best {
			continue
		}
		if skip == 0 {
			chosen = w
			break
		}
		skip--
	}
	return balancer.PickResult{SubConn: chosen.conn}, nil
}
