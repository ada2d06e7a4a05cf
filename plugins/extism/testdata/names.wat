;; A guest whose own exports have the names of the kernel's. Built by
;;   wat2wasm names.wat -o names.wasm
(module
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (func (export "alloc") (param i64) (result i64) (unreachable))
  (func (export "free") (param i64) (unreachable))
  (func (export "length") (param i64) (result i64) (unreachable))
  (func (export "input_set") (param i64 i64) (unreachable))
  (func (export "reset") (unreachable))
  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0)))
