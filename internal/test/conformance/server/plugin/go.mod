module github.com/toolquay/toolquay/internal/test/conformance/server/plugin

go 1.24

require github.com/toolquay/toolquay/sdk/go v0.0.0

replace github.com/toolquay/toolquay/sdk/go => ../../../../../sdk/go
