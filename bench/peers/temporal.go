package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
	"google.golang.org/protobuf/types/known/durationpb"
)

const temporalSettings = "All four services, a worker of Temporal's Go SDK and the callers in one process; callers and worker reach the frontend over gRPC. " +
	"Worker: pollers that scale themselves (5 at first, at most 100) for workflow and activity tasks, 1,000 workflow tasks, activities and local activities at once, sticky cache of 10,000 workflows, " +
	"eager start of workflows and activities. Server: rate limits lifted, so that they do not measure themselves. " +
	"Per burst: activities are local activities, recorded with the workflow task. Per activity: they are activities. " +
	"W2: the signal is sent as soon as the start is acknowledged, so a task may see both, in favour of Temporal."

const (
	namespace = "bench"
	queue     = "bench"
)

// input is about 200 bytes.
var input = strings.Repeat("order 0815 ", 18)

// lines keeps activities from being empty.
var lines atomic.Int64

func activity(_ context.Context, text string) error {
	lines.Add(int64(len(text) % 2))
	return nil
}

// do runs the activity; local ones are recorded with the workflow's task.
func do(ctx workflow.Context, local bool, text string) error {
	if local {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute})
		return workflow.ExecuteLocalActivity(ctx, activity, text).Get(ctx, nil)
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteActivity(ctx, activity, text).Get(ctx, nil)
}

func w1(ctx workflow.Context, text string, local bool) error {
	for range 3 {
		if err := do(ctx, local, text); err != nil {
			return err
		}
	}
	return nil
}

func w2(ctx workflow.Context, _ string, local bool) error {
	var by string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &by)
	return do(ctx, local, by)
}

func temporalOnSQLite(ctx context.Context, dir string) (*system, error) {
	// What the lite server does, with a file: one shard, since there is one writer.
	store := config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: filepath.Join(dir, "temporal.db"),
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "2"}}
	if err := sqlite.SetupSchema(&store); err != nil {
		return nil, err
	}
	return startTemporal(ctx, temporalStores{main: store, visibility: store, shards: 1,
		about: "SQLite in a file, journal_mode=WAL, synchronous=FULL, one history shard, as Temporal's own lite server."}, nil)
}

// Shards of the history: the number that Temporal's charts install.
const temporalShards = 512

func temporalOnPostgres(ctx context.Context, dir string) (*system, error) {
	pg, err := startPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	store := func(database string, conns int) config.SQL {
		return config.SQL{PluginName: postgresql.PluginNamePGX, DatabaseName: database, User: "postgres", ConnectProtocol: "tcp",
			ConnectAddr: net.JoinHostPort("127.0.0.1", strconv.Itoa(pg.port)), MaxConns: conns, MaxIdleConns: conns, MaxConnLifetime: time.Hour}
	}
	for database, schema := range map[string]string{"temporal": "temporal", "temporal_visibility": "visibility"} {
		if err := pg.create(ctx, database); err != nil {
			return nil, errors.Join(err, pg.stop())
		}
		if err := temporalSchema(store(database, 1), schema); err != nil {
			return nil, errors.Join(err, pg.stop())
		}
	}
	return startTemporal(ctx, temporalStores{main: store("temporal", 50), visibility: store("temporal_visibility", 10), shards: temporalShards,
		about: fmt.Sprintf("Postgres with %s and defaults for the rest, %d history shards, pools of 50 and 10 connections.", strings.Join(postgresSettings, ", "), temporalShards)}, pg)
}

// temporalSchema does what temporal-sql-tool does.
func temporalSchema(store config.SQL, name string) error {
	conn, err := sql.NewConnection(&store, log.NewNoopLogger())
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := schema.NewSetupSchemaTask(conn, &schema.SetupConfig{InitialVersion: "0.0"}, log.NewNoopLogger()).Run(); err != nil {
		return err
	}
	return schema.NewUpdateSchemaTask(conn, &schema.UpdateConfig{SchemaName: "postgresql/v12/" + name}, log.NewNoopLogger()).Run()
}

type temporalStores struct {
	main, visibility config.SQL
	shards           int32
	about            string
}

// startTemporal starts server and worker.
func startTemporal(ctx context.Context, stores temporalStores, pg *postgres) (_ *system, err error) {
	var undo []func() error
	if pg != nil {
		undo = append(undo, pg.stop)
	}
	stop := func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	cfg, err := temporalConfig(ctx, stores)
	if err != nil {
		return nil, err
	}
	server, err := temporal.NewServer(temporal.WithConfig(cfg), temporal.ForServices(temporal.DefaultServices), temporal.WithLogger(log.NewNoopLogger()),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()), temporal.WithDynamicConfigClient(unlimited()))
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	undo = append(undo, server.Stop)
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	if err := registerNamespace(ctx, cfg.PublicClient.HostPort, quiet); err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: cfg.PublicClient.HostPort, Namespace: namespace, Logger: quiet})
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() error { c.Close(); return nil })
	worker.SetStickyWorkflowCacheSize(10_000)
	pollers := worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
	w := worker.New(c, queue, worker.Options{MaxConcurrentWorkflowTaskExecutionSize: 1000, MaxConcurrentActivityExecutionSize: 1000,
		MaxConcurrentLocalActivityExecutionSize: 1000, MaxConcurrentEagerActivityExecutionSize: 1000,
		WorkflowTaskPollerBehavior: pollers, ActivityTaskPollerBehavior: pollers})
	w.RegisterWorkflow(w1)
	w.RegisterWorkflow(w2)
	w.RegisterActivity(activity)
	if err := w.Start(); err != nil {
		return nil, err
	}
	undo = append(undo, func() error { w.Stop(); return nil })
	sys := &system{settings: stores.about + " " + temporalSettings, stop: stop, operations: temporalOperations(c)}
	if pg != nil {
		sys.cpu = pg.cpu
	}
	return sys, nil
}

func temporalOperations(c client.Client) []operation {
	start := func(ctx context.Context, f any, i int64, local bool) (client.WorkflowRun, error) {
		return c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: fmt.Sprint("i", i), TaskQueue: queue, EnableEagerStart: true}, f, input, local)
	}
	var out []operation
	for _, commit := range []string{"burst", "activity"} {
		local := commit == "burst"
		out = append(out, operation{"W1", commit, func(ctx context.Context, i int64) error {
			run, err := start(ctx, w1, i, local)
			if err != nil {
				return err
			}
			return run.Get(ctx, nil)
		}}, operation{"W2", commit, func(ctx context.Context, i int64) error {
			run, err := start(ctx, w2, i, local)
			if err != nil {
				return err
			}
			if err := c.SignalWorkflow(ctx, run.GetID(), run.GetRunID(), "go", "bench"); err != nil {
				return err
			}
			return run.Get(ctx, nil)
		}})
	}
	return out
}

// registerNamespace makes the namespace and waits until it can be used.
func registerNamespace(ctx context.Context, address string, logger sdklog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	nc, err := client.NewNamespaceClient(client.Options{HostPort: address, Logger: logger})
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: namespace, Logger: logger})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		err := nc.Register(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
		if err == nil || strings.Contains(err.Error(), "already") {
			if _, err = c.DescribeTaskQueue(ctx, queue, 1); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("register the namespace: %w", cmp.Or(err, ctx.Err()))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// unlimited lifts the rate limits, which protect a shared server.
func unlimited() dynamicconfig.StaticClient {
	const much = 1_000_000
	return dynamicconfig.StaticClient{
		dynamicconfig.FrontendRPS.Key():                        much,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): much,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():          much,
		dynamicconfig.HistoryRPS.Key():                         much,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():           much,
		dynamicconfig.MatchingRPS.Key():                        much,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():          much,
		dynamicconfig.NamespaceCacheRefreshInterval.Key():      time.Second,
	}
}

func temporalConfig(ctx context.Context, stores temporalStores) (*config.Config, error) {
	cfg := &config.Config{}
	cfg.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: "127.0.0.1"}
	cfg.Persistence = config.Persistence{DefaultStore: "main", VisibilityStore: "visibility", NumHistoryShards: stores.shards,
		DataStores: map[string]config.DataStore{"main": {SQL: &stores.main}, "visibility": {SQL: &stores.visibility}}}
	cfg.Services = map[string]config.Service{}
	address := ""
	for _, service := range temporal.DefaultServices {
		grpc, err := lowPort(ctx)
		if err != nil {
			return nil, err
		}
		membership, err := lowPort(ctx)
		if err != nil {
			return nil, err
		}
		cfg.Services[service] = config.Service{RPC: config.RPC{GRPCPort: grpc, MembershipPort: membership, BindOnLocalHost: true}}
		if service == "frontend" {
			address = net.JoinHostPort("127.0.0.1", strconv.Itoa(grpc))
		}
	}
	cfg.ClusterMetadata = &cluster.Config{FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
		ClusterInformation: map[string]cluster.ClusterInformation{"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address}}}
	cfg.DCRedirectionPolicy = config.DCRedirectionPolicy{Policy: "noop"}
	cfg.Archival = config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}}
	cfg.NamespaceDefaults = config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
		History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"}}}
	cfg.PublicClient = config.PublicClient{HostPort: address}
	return cfg, nil
}

// lowPort is a free port that fits Temporal's column for ports, a signed 16-bit
// number in Postgres.
func lowPort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	for range 100 {
		port := 10_000 + rand.IntN(22_000)
		if l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("found no free port below 32768")
}
