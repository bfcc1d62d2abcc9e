package operate

import (
	"slices"

	"github.com/weft-run/weft/internal/httpapi/serve"
)

// Routes are for who looks after a cluster. What this node has not, webhooks or a look at its etcd, has none.
func Routes(cfg *serve.Config) []serve.Route {
	return slices.Concat(
		clusterRoutes(), nodeRoutes(), statsRoutes(), explainRoutes(), receiptRoutes(), letterRoutes(), jobRoutes(), webhookRoutes(cfg), limitRoutes(cfg),
		balanceRoutes(), etcdRoutes(cfg), fillingRoutes(), auditRoutes(), callerRoutes(),
	)
}
