;; A guest that reaches for more of the kernel than Extism gives, with the wrong
;; types, and for what Extism never had. Built by
;;   wat2wasm grab.wat -o grab.wasm
(module
  (import "extism:host/env" "alloc" (func (param i32) (result i32)))
  (import "extism:host/env" "config_get" (func (param i32)))
  (import "extism:host/env" "exec" (func (param i64)))
  (import "extism:host/env" "memory" (memory 1))
  (import "extism:host/user" "toolquay_capability" (func))
  (func (export "hs_init"))
  (func (export "echo") (result i32) (i32.const 0)))
