{{- define "weft.name" -}}
{{- ternary .Release.Name (printf "%s-weft" .Release.Name) (contains "weft" .Release.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "weft.selector" -}}
app.kubernetes.io/name: weft
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* The name is weft in all of them: alerts ask for the job of that name. */}}
{{- define "weft.labels" -}}
{{ include "weft.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* A setting as a variable has it. Values of a file are floats, and YAML takes on and off for booleans. */}}
{{- define "weft.setting" -}}
{{- $value := .value -}}
{{- if and (kindIs "bool" $value) (has .name (list "console" "group-commit" "javascript")) -}}
{{- ternary "on" "off" $value -}}
{{- else if kindIs "float64" $value -}}
{{- printf "%.0f" $value -}}
{{- else -}}
{{- toString $value -}}
{{- end -}}
{{- end -}}

{{/* 10s or 2m in seconds. */}}
{{- define "weft.seconds" -}}
{{- if hasSuffix "m" . -}}{{ mul 60 (trimSuffix "m" . | int) }}{{- else -}}{{ trimSuffix "s" . | int }}{{- end -}}
{{- end -}}

{{/* The soft limit below the memory of the container, in MiB: the collector works harder before the kernel kills. */}}
{{- define "weft.soft" -}}
{{- $limit := .Values.resources.limits.memory -}}
{{- $mib := trimSuffix "Mi" $limit | int -}}
{{- if hasSuffix "Gi" $limit -}}{{- $mib = mul 1024 (trimSuffix "Gi" $limit | int) -}}{{- end -}}
{{- div (mul $mib 88) 100 -}}
{{- end -}}

{{/* What fits no node, said before there is one. */}}
{{- define "weft.check" -}}
{{- if not (or .Values.auth.secret (get .Values.config "auth-oidc-issuer") (get .Values.config "insecure")) -}}
{{- fail "nobody could call the API: name the Secret with keys.yaml in auth.secret, or a provider in config.auth-oidc-issuer" -}}
{{- end -}}
{{- range .Values.etcd.endpoints -}}
{{- if and $.Values.etcd.tls.secret (hasPrefix "http://" .) -}}
{{- fail (printf "etcd.endpoints: %s has no TLS, and etcd.tls.secret is %s: write https://, or empty etcd.tls.secret" . $.Values.etcd.tls.secret) -}}
{{- end -}}
{{- end -}}
{{- if ne (empty .Values.etcd.user) (empty .Values.etcd.password.secret) -}}
{{- fail "etcd.user and etcd.password.secret go together: the name, and the Secret with its password" -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled (not .Values.etcd.namespace) (not .Values.etcd.cidrs) -}}
{{- fail "the NetworkPolicy would keep nodes from etcd: say where it is in etcd.namespace or etcd.cidrs" -}}
{{- end -}}
{{- end -}}
