package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// The variables that decide whether and how. Every other OTEL_* variable of the
// Go SDK and its OTLP exporters works as documented there.
const (
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// FromEnvironment makes the provider that the OTEL_* variables ask for; nil if
// they ask for none. Traces are off unless OTEL_TRACES_EXPORTER is otlp or an
// OTLP endpoint is set. A collector that is away is no error: what it does not
// take is dropped and said in the log once a minute. Errors are about variables
// that make no sense, and name them. The caller ends the provider with Shutdown,
// which sends what is left.
func FromEnvironment(ctx context.Context, version string, log *slog.Logger) (*sdk.TracerProvider, error) {
	protocol, err := wanted(os.Getenv)
	if err != nil || protocol == "" {
		return nil, err
	}
	var exporter sdk.SpanExporter
	if protocol == "grpc" {
		exporter, err = otlptrace.New(ctx, otlptracegrpc.NewClient())
	} else {
		exporter, err = otlptrace.New(ctx, otlptracehttp.NewClient())
	}
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "weft"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(&complaints{log: log})
	log.InfoContext(ctx, "traces are exported", slog.String("protocol", protocol))
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)), nil
}

// wanted is the protocol of the exporter that is asked for; "" for none.
func wanted(env func(string) string) (protocol string, err error) {
	if strings.EqualFold(strings.TrimSpace(env(envDisabled)), "true") {
		return "", nil
	}
	endpoint, from := env(envTracesEndpoint), envTracesEndpoint
	if endpoint == "" {
		endpoint, from = env(envEndpoint), envEndpoint
	}
	switch exporter := strings.ToLower(strings.TrimSpace(env(envExporter))); exporter {
	case "none":
		return "", nil
	case "otlp":
	case "":
		if endpoint == "" {
			return "", nil
		}
	default:
		return "", fmt.Errorf("%s is %q; it must be otlp or none", envExporter, exporter)
	}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			// The address may hold a password: it is not repeated.
			return "", fmt.Errorf("%s must be an address such as http://127.0.0.1:4318", from)
		}
	}
	protocol = cmp.Or(env(envTracesProtocol), env(envProtocol), "http/protobuf")
	if protocol != "grpc" && protocol != "http/protobuf" {
		return "", fmt.Errorf("%s is %q; it must be http/protobuf or grpc", envProtocol, protocol)
	}
	return protocol, nil
}

// complaints takes what the SDK has to say, which for a collector that is away
// is the same every few seconds.
type complaints struct {
	log  *slog.Logger
	last atomic.Int64 // unix nanoseconds
}

const complainEvery = time.Minute

// Handle implements [otel.ErrorHandler].
func (c *complaints) Handle(err error) {
	now, last := time.Now().UnixNano(), c.last.Load()
	if now-last < int64(complainEvery) || !c.last.CompareAndSwap(last, now) {
		return
	}
	c.log.Warn("traces are not exported; the node goes on without", slog.Any("error", err))
}
