;; A guest that makes a capability call, sound in itself, in its start function.
;; Built by
;;   wat2wasm request_at_start.wat -o request_at_start.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/user" "toolquay_capability" (func $capability (param i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\00\29\00\00\00{\"capability\":\"test.echo\",\"args\":{\"n\":1}}") ;; 8 + 41
  (func $start (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.const 49)))
    (loop $next
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (i32.const 64) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 49))))
    (drop (call $capability (local.get $block))))
  (start $start)
  (func (export "request_at_start") (result i32) (i32.const 0)))
