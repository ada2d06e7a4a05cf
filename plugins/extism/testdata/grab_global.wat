;; A guest that reaches for the counters of the kernel's own fuel. Built by
;;   wat2wasm grab_global.wat -o grab_global.wasm
(module
  (import "extism:host/env" "toolquay:global/1" (global $fuel (mut i64)))
  (memory (export "memory") 1)
  (func (export "echo") (result i32) (global.set $fuel (i64.const 0x7fffffffffffffff)) (i32.const 0)))
