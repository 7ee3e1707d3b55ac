module baton/golden/openapi

go 1.23.0

require (
	github.com/google/gnostic-models v0.7.0
	google.golang.org/protobuf v1.36.8
)

require go.yaml.in/yaml/v3 v3.0.3
