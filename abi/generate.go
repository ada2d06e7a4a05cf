package abi

//go:generate go run ./internal/gen -out ../sdk/go
