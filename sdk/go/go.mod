module github.com/toolquay/toolquay/sdk/go

go 1.23
