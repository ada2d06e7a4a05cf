;; The same guest as guest.wat, as an Extism plugin: it makes one host call, reads
;; the whole answer into its own memory, and answers "ok".
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u64" (func $load (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (import "extism:host/user" "bench_read" (func $read (param i64) (result i64)))
  (memory (export "memory") 2)
  (func (export "call") (result i32)
    (local $from i64) (local $left i64) (local $to i32)
    (local.set $from (call $read (i64.const 0)))
    (local.set $left (call $length (local.get $from)))
    (local.set $to (i32.const 65536))
    (block $end
      (loop $more
        (br_if $end (i64.le_s (local.get $left) (i64.const 0)))
        (i64.store (local.get $to) (call $load (local.get $from)))
        (local.set $from (i64.add (local.get $from) (i64.const 8)))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $left (i64.sub (local.get $left) (i64.const 8)))
        (br $more)))
    (local.set $from (call $alloc (i64.const 2)))
    (call $store (local.get $from) (i32.const 111))
    (call $store (i64.add (local.get $from) (i64.const 1)) (i32.const 107))
    (call $output (local.get $from) (i64.const 2))
    (i32.const 0)))
