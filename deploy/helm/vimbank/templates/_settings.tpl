{{/* What the settings come to: kinds as the profile has them where they are not said. */}}
{{- define "vimbank.ledgerKind" -}}
{{- $cluster := eq (default "embedded" .Values.config.profile) "cluster" -}}
{{- dig "ledger" "kind" (ternary "postgres" "sqlite" $cluster) .Values.config -}}
{{- end -}}

{{- define "vimbank.services" -}}
{{- $cluster := eq (default "embedded" .Values.config.profile) "cluster" -}}
{{- if eq (dig "dense" "kind" (ternary "qdrant" "exact" $cluster) .Values.config) "qdrant" -}}true{{- end -}}
{{- end -}}

{{/* Each secret: its name in values, the section and the setting that names its file. */}}
{{- define "vimbank.secrets" -}}
- {value: ledgerPassword, section: ledger, setting: password}
- {value: ledgerURL, section: ledger, setting: url}
- {value: denseKey, section: dense, setting: api_key}
- {value: sparsePassword, section: sparse, setting: password}
- {value: sparseKey, section: sparse, setting: api_key}
- {value: embedderKey, section: embedder, setting: api_key}
- {value: completerKey, section: completer, setting: api_key}
{{- end -}}

{{/* The settings file. Secrets stand in it as the files they are mounted at. */}}
{{- define "vimbank.settings" -}}
{{- include "vimbank.check" . -}}
{{- $c := deepCopy .Values.config -}}
{{- range $s := include "vimbank.secrets" . | fromYamlArray -}}
{{- if (get $.Values.secrets $s.value).name -}}
{{- $section := default dict (get $c $s.section) -}}
{{- $_ := set $section (printf "%s_file" $s.setting) (printf "/etc/vimbank/secrets/%s" $s.value) -}}
{{- $_ := unset $section $s.setting -}}
{{- $_ := set $c $s.section $section -}}
{{- end -}}
{{- end -}}
{{- if and .Values.secrets.sparsePassword.name (not (dig "sparse" "user" "" $c)) -}}
{{- $_ := set $c.sparse "user" "vimbank" -}}
{{- end -}}
{{- if .Values.ca.configMap -}}
{{- $_ := set $c "sparse" (merge (dict "ca_file" "/etc/vimbank/ca/ca.crt") (default dict $c.sparse)) -}}
{{- $tls := merge (dict "ca_file" "/etc/vimbank/ca/ca.crt") (dig "dense" "tls" dict $c) -}}
{{- $_ := set $c "dense" (merge (dict "tls" $tls) (default dict $c.dense)) -}}
{{- end -}}
{{- $_ := set $c "bank" "/var/lib/vimbank" -}}
{{- $_ := set $c "admin" (dict "addr" (printf "0.0.0.0:%d" (int .Values.adminPort)) "public" true) -}}
{{- toYaml $c -}}
{{- end -}}

{{/* What must not be installed. */}}
{{- define "vimbank.check" -}}
{{- if and (eq (include "vimbank.ledgerKind" .) "sqlite") (ne (int .Values.replicas) 1) -}}
{{- fail (printf "replicas: found %d, wanted 1, because the ledger is a file (config.ledger.kind sqlite)" (int .Values.replicas)) -}}
{{- end -}}
{{- range $section, $settings := .Values.config -}}
{{- if kindIs "map" $settings -}}
{{- range $key := list "api_key" "password" -}}
{{- if get $settings $key -}}
{{- fail (printf "config.%s.%s: found a secret among the values, wanted a Secret that is named under secrets" $section $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := $settings -}}
{{- if and (kindIs "string" $value) (regexMatch "://[^/@]*:[^/@]*@" $value) -}}
{{- fail (printf "config.%s.%s: found a password in an address, wanted a Secret that is named under secrets" $section $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.secrets.required -}}
{{- $s := .Values.secrets -}}
{{- if and (eq (include "vimbank.ledgerKind" .) "postgres") (not (or $s.ledgerPassword.name $s.ledgerURL.name)) -}}
{{- fail "secrets.ledgerPassword.name: found nothing, wanted the Secret with PostgreSQL's password (or secrets.required false)" -}}
{{- end -}}
{{- if and (include "vimbank.services" .) (not $s.denseKey.name) -}}
{{- fail "secrets.denseKey.name: found nothing, wanted the Secret with Qdrant's key (or secrets.required false)" -}}
{{- end -}}
{{- if and (include "vimbank.services" .) (not (or $s.sparsePassword.name $s.sparseKey.name)) -}}
{{- fail "secrets.sparsePassword.name: found nothing, wanted the Secret with Elasticsearch's password, or sparseKey (or secrets.required false)" -}}
{{- end -}}
{{- end -}}
{{- end -}}
