;; What a PDK does, for benchmarks: bytes cross word by word. Built by
;;   wat2wasm bench.wat -o bench.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/user" "toolquay_capability" (func $capability (param i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\01\00\00\00\27\00\00\00{\"capability\":\"fs.read\",\"args\":{\"x\":1}}") ;; 8 + 39, see $request
  (global $room i32 (i32.const 1024))
  (global $request i32 (i32.const 47))

  ;; reserve grows the memory until a message fits behind $room.
  (func $reserve (param $len i32)
    (block $fits
      (loop $more
        (br_if $fits (i32.le_u
          (i32.add (global.get $room) (local.get $len))
          (i32.mul (memory.size) (i32.const 65536))))
        (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
        (unreachable))))

  ;; store copies guest memory to a new block.
  (func $store (param $ptr i32) (param $len i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $len))))
    (block $words
      (loop $next
        (br_if $words (i32.gt_u (i32.add (local.get $i) (i32.const 8)) (local.get $len)))
        (call $store_u64
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
          (i64.load align=1 (i32.add (local.get $ptr) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
        (call $store_u8
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
          (i32.load8_u (i32.add (local.get $ptr) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $block))

  (func (export "noop") (result i32) (i32.const 0))

  ;; echo copies the input into the guest and out again.
  (func (export "echo") (result i32)
    (local $len i32) (local $i i32)
    (local.set $len (i32.wrap_i64 (call $input_length)))
    (call $reserve (local.get $len))
    (block $words
      (loop $next
        (br_if $words (i32.gt_u (i32.add (local.get $i) (i32.const 8)) (local.get $len)))
        (i64.store align=1 (i32.add (global.get $room) (local.get $i))
          (call $input_load_u64 (i64.extend_i32_u (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
        (i32.store8 (i32.add (global.get $room) (local.get $i))
          (call $input_load_u8 (i64.extend_i32_u (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (call $output_set (call $store (global.get $room) (local.get $len)) (i64.extend_i32_u (local.get $len)))
    (i32.const 0))

  ;; pull makes one capability call and copies the answer into the guest.
  (func (export "pull") (result i32)
    (local $answer i64) (local $len i32) (local $i i32)
    (local.set $answer (call $capability (call $store (i32.const 0) (global.get $request))))
    (local.set $len (i32.wrap_i64 (call $length (local.get $answer))))
    (call $reserve (local.get $len))
    (block $words
      (loop $next
        (br_if $words (i32.gt_u (i32.add (local.get $i) (i32.const 8)) (local.get $len)))
        (i64.store align=1 (i32.add (global.get $room) (local.get $i))
          (call $load_u64 (i64.add (local.get $answer) (i64.extend_i32_u (local.get $i)))))
        (local.set $i (i32.add (local.get $i) (i32.const 8)))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
        (i32.store8 (i32.add (global.get $room) (local.get $i))
          (call $load_u8 (i64.add (local.get $answer) (i64.extend_i32_u (local.get $i)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0)))
