{{/* Rights of a pod and of a container: the strictest that Kubernetes has a word for. */}}
{{- define "vimbank.podRights" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "vimbank.rights" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The pod of the Deployment and of the StatefulSet. */}}
{{- define "vimbank.pod" -}}
metadata:
  labels:
    {{- include "vimbank.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/settings: {{ include "vimbank.settings" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "vimbank.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- include "vimbank.podRights" . | nindent 4 }}
  containers:
    - name: vimbank
      image: {{ include "vimbank.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [upkeep]
      env:
        - name: VIMBANK_CONFIG
          value: /etc/vimbank/vimbank.yaml
      ports:
        - name: admin
          containerPort: {{ int .Values.adminPort }}
      startupProbe:
        httpGet: {path: /healthz, port: admin}
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /healthz, port: admin}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: admin}
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 3
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int .Values.drain }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- include "vimbank.rights" . | nindent 8 }}
      volumeMounts:
        - {name: settings, mountPath: /etc/vimbank/vimbank.yaml, subPath: vimbank.yaml, readOnly: true}
        - {name: secrets, mountPath: /etc/vimbank/secrets, readOnly: true}
        {{- if .Values.ca.configMap }}
        - {name: ca, mountPath: /etc/vimbank/ca, readOnly: true}
        {{- end }}
        - {name: bank, mountPath: /var/lib/vimbank}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: settings
      configMap:
        name: {{ include "vimbank.fullname" . }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- $none := true }}
          {{- range $s := include "vimbank.secrets" . | fromYamlArray }}
          {{- with get $.Values.secrets $s.value }}
          {{- if .name }}
          {{- $none = false }}
          - secret:
              name: {{ .name }}
              items: [{key: {{ .key | quote }}, path: {{ $s.value }}}]
          {{- end }}
          {{- end }}
          {{- end }}
          {{- if $none }}
          []
          {{- end }}
    {{- if .Values.ca.configMap }}
    - name: ca
      configMap:
        name: {{ .Values.ca.configMap }}
        items: [{key: {{ .Values.ca.key | quote }}, path: ca.crt}]
    {{- end }}
    {{- if eq (include "vimbank.ledgerKind" .) "postgres" }}
    - name: bank
      emptyDir: {sizeLimit: {{ .Values.storage.scratch }}}
    {{- end }}
    - name: tmp
      emptyDir: {sizeLimit: 64Mi}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "vimbank.selector" $ | nindent 10 }}
    {{- end }}
    {{- end }}
{{- end -}}
