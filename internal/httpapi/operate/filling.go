package operate

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/pkg/workflow"
)

type fillingView struct {
	Revision    int64               `json:"revision" doc:"Of etcd: all is as it was then."`
	Whole       bool                `json:"whole" doc:"All was read. False: within 8 seconds or 256 MiB only some was, and what is estimated says by how much it may be wrong."`
	TookSeconds float64             `json:"tookSeconds"`
	Store       storeMeterView      `json:"store" doc:"How full etcd is, as the node that answers knows it."`
	Bytes       int64               `json:"bytes" doc:"Of all keys and values of the cluster. What else is in use is what etcd keeps of before its last compaction, its own, and what others keep there."`
	Kinds       []fillingKind       `json:"kinds" doc:"The largest first."`
	Definitions []fillingDefinition `json:"definitions" doc:"What the instances of each take that were read: records, parts, journals, mail, entries in lists."`
	Largest     []fillingInstance   `json:"largest" doc:"The largest instances of those that were read, 20 at most."`
	Growth      *fillingGrowth      `json:"growth" doc:"null: this node has not looked for ten minutes yet."`
}

type fillingKind struct {
	Kind  string `json:"kind"`
	Keys  int64  `json:"keys"`
	Bytes int64  `json:"bytes"`
	Off   int64  `json:"off" doc:"By how many bytes that may be wrong, either way (two standard errors, if what was not read is like what was). 0: all was read."`
}

type fillingDefinition struct {
	DefinitionID string `json:"definitionId"`
	Instances    int64  `json:"instances"`
	Bytes        int64  `json:"bytes"`
}

type fillingInstance struct {
	InstanceID   string `json:"instanceId"`
	DefinitionID string `json:"definitionId"`
	Keys         int64  `json:"keys"`
	Bytes        int64  `json:"bytes"`
}

type fillingGrowth struct {
	BytesADay   float64  `json:"bytesADay" doc:"Of what is in use; below 0 it shrinks."`
	OverSeconds float64  `json:"overSeconds" doc:"For how long this was seen: since the start of the node, and a day at most."`
	DaysLeft    *float64 `json:"daysLeft" doc:"Until starts are refused, if it goes on so; null: it does not grow, or they are refused already."`
}

func fillingRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/cluster/store", Name: "getStore", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "What fills etcd: by kind and definition, the largest instances, days until it is full",
			Answers: map[int]any{200: fillingView{}}, Problems: []workflow.Code{workflow.CodeBusy}, Serve: getStore},
	}
}

// getStore is one look at a time: it reads much.
func getStore(c *serve.Call) (serve.Reply, error) {
	if !c.API.Filling.TryLock() {
		return serve.Reply{}, &workflow.Error{Code: workflow.CodeBusy, RetryAfter: 5 * time.Second, Detail: "this node looks what fills etcd already; ask again when that is done, or another node"}
	}
	defer c.API.Filling.Unlock()
	f, err := c.API.Config.Runtime.Inspector.Filling(c.Request.Context())
	if err != nil {
		return serve.Reply{}, err
	}
	in := c.API.Config.Runtime.Intake()
	full := in.Fullness()
	v := fillingView{Revision: f.Revision, Whole: f.Whole, TookSeconds: f.Took.Seconds(), Store: storeMeterView{Level: int(full.Level), Text: full.Text, Advice: full.Advice}}
	for _, k := range f.Kinds {
		v.Bytes += k.Bytes
	}
	v.Kinds = shape.Each(f.Kinds, func(s inspect.Share) fillingKind { return fillingKind{s.Name, s.Keys, s.Bytes, s.Off} })
	v.Definitions = shape.Each(f.Definitions, func(s inspect.Share) fillingDefinition { return fillingDefinition{s.Name, s.Keys, s.Bytes} })
	v.Largest = shape.Each(f.Largest, func(s inspect.Share) fillingInstance { return fillingInstance{s.Name, s.Definition, s.Keys, s.Bytes} })
	if sp := in.Space(); sp != nil {
		v.Store.InUse, v.Store.Allocated, v.Store.Quota = sp.InUse, sp.Allocated, sp.Quota
		v.Store.DiskFree, v.Store.DiskSize = sp.Disk.Free, sp.Disk.Size
		if by, over := in.Growth(); over > 0 {
			v.Growth = &fillingGrowth{BytesADay: by, OverSeconds: over.Seconds()}
			if left := intake.Left(sp); by > 0 && left > 0 {
				v.Growth.DaysLeft = new(left / by)
			}
		}
	}
	return serve.Reply{Body: v}, nil
}
