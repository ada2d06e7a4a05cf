;; One export for each way a guest can work against the kernel that it is linked
;; to. Built by
;;   wat2wasm hostile.wat -o hostile.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "log_warn" (func $log_warn (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "reset" (func $reset))
  (import "extism:host/user" "toolquay_capability" (func $capability (param i64) (result i64)))
  (memory (export "memory") 1)
  (global $calls (mut i32) (i32.const 0))

  (func (export "flood") (loop $l (drop (call $alloc (i64.const 65000))) (br $l)))

  (func (export "flood_small") (loop $l (drop (call $alloc (i64.const 1))) (br $l)))

  (func (export "free_all") (local $i i64)
    (loop $l
      (call $free (local.get $i))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br $l)))

  (func (export "reset_all") (loop $l (call $reset) (br $l)))

  (func (export "log_all") (loop $l (call $log_warn (i64.const 0)) (br $l)))

  ;; ask_all submits a request without end.
  (data (i32.const 0) "\01\00\00\00\1a\00\00\00{\"capability\":\"fs.read\"}  ")
  (func (export "ask_all") (local $request i64) (local $i i32)
    (local.set $request (call $alloc (i64.const 34)))
    (loop $l
      (call $store_u8 (i64.add (local.get $request) (i64.extend_i32_u (local.get $i))) (i32.load8_u (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $i) (i32.const 34))))
    (loop $l
      (call $free (call $capability (local.get $request)))
      (br $l)))

  ;; stain writes wherever the kernel lets it, and into its own memory;
  ;; stain_more into memory that it let grow.
  (func $stain (param $end i64) (result i32) (local $i i64)
    (global.set $calls (i32.const 1))
    (memory.fill (i32.const 0) (i32.const 0xee) (i32.const 65536))
    (drop (call $alloc (i64.sub (local.get $end) (i64.const 20000))))
    (local.set $i (i64.const 64))
    (loop $l
      (call $store_u8 (local.get $i) (i32.const 0xee))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $l (i64.lt_u (local.get $i) (local.get $end))))
    (i32.const 0))
  (func (export "stain") (result i32) (call $stain (i64.const 65536)))
  (func (export "stain_more") (result i32)
    (drop (memory.grow (i32.const 1)))
    (call $stain (i64.const 131072)))

  ;; look fails if it finds anything of an earlier call, in its own memory or
  ;; behind its input in the kernel's.
  (func (export "look") (result i32) (local $i i64) (local $j i32)
    (if (global.get $calls) (then (return (i32.const 2))))
    (local.set $j (i32.const 35)) ;; behind the data
    (loop $l
      (if (i32.load8_u (local.get $j)) (then (return (i32.const 3))))
      (local.set $j (i32.add (local.get $j) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $j) (i32.const 65536))))
    (local.set $i (i64.add (i64.const 77) (call $input_length)))
    (loop $l
      (if (call $load_u8 (local.get $i)) (then (return (i32.const 1))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $l (i64.lt_u (local.get $i) (i64.const 65536))))
    (i32.ne (memory.size) (i32.const 1)))

  ;; tangle makes two blocks, the first of which claims to be followed by itself,
  ;; and returns the second: looking for it takes the kernel for ever.
  (func $tangle (result i64) (local $a i64) (local $b i64)
    (local.set $a (call $alloc (i64.const 16)))
    (local.set $b (call $alloc (i64.const 16)))
    (call $store_u64 (i64.sub (local.get $a) (i64.const 8)) (i64.const 0x10_ffff_fff4))
    (local.get $b))

  (func (export "search") (drop (call $length (call $tangle))))
  (func (export "search_after") (call $error_set (call $tangle)))
  (func (export "search_for_host") (drop (call $capability (call $tangle))))
  (func (export "search_for_log") (call $log_warn (call $tangle)))

  ;; outside names what is not there in every way.
  (func (export "outside") (result i32)
    (call $output_set (i64.const 0) (i64.const 5))
    (call $output_set (i64.const 0x10000000000) (i64.const 5))
    (call $output_set (i64.const 100) (i64.const 0x10000000000))
    (call $output_set (i64.const 100) (i64.const -1))
    (call $error_set (i64.const 0x10000000000))
    (call $store_u8 (i64.const -1) (i32.const 1))
    (call $store_u8 (i64.const 3) (i32.const 1))
    (call $free (i64.const -1))
    (i32.wrap_i64 (i64.add (call $length (i64.const -1)) (i64.extend_i32_u (call $load_u8 (i64.const -1))))))

  ;; nonsense makes a block of nearly 2^64 bytes, which the kernel believes in.
  (func (export "nonsense") (result i32)
    (drop (call $capability (call $alloc (i64.const -2))))
    (i32.const 0))

  ;; wrong points the output and the error outside of the memory, behind the
  ;; kernel's back.
  (func (export "wrong") (result i32)
    (drop (call $alloc (i64.const 1)))
    (call $store_u64 (i64.const 57) (i64.const -1))
    (i32.const 0))

  (func (export "gibibyte") (result i32) (local $b i64)
    (local.set $b (call $alloc (i64.const 0x40000000)))
    (call $output_set (local.get $b) (i64.const 0x40000000))
    (i64.ne (local.get $b) (i64.const 0)))

  ;; big is a block of 8 MiB, the same one again once it is freed. What follows
  ;; gives it to the host, over and over.
  (func $big (result i64) (call $alloc (i64.const 0x800000)))
  (func (export "log_big") (result i32) (local $i i32)
    (loop $l
      (call $log_warn (call $big))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $i) (i32.const 50))))
    (i32.const 0))
  (func (export "name_big") (result i32) (local $i i32) (local $b i64) (local $found i64)
    (loop $l
      (local.set $found (i64.or (local.get $found) (call $var_get (call $big))))
      (call $var_set (call $big) (i64.const 0))
      (local.set $b (call $big))
      (local.set $found (i64.or (local.get $found) (call $config_get (local.get $b))))
      (call $free (local.get $b))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $l (i32.lt_u (local.get $i) (i32.const 16))))
    (i64.ne (local.get $found) (i64.const 0)))
  (func (export "var_big") (call $var_set (call $alloc (i64.const 1)) (call $big)))
  (func (export "var_name_big") (call $var_set (call $big) (call $alloc (i64.const 1))))

  ;; deep goes down 30,000 frames once.
  (func $down (param $n i32)
    (if (local.get $n) (then (call $down (i32.sub (local.get $n) (i32.const 1))))))
  (func (export "deep") (result i32) (call $down (i32.const 30000)) (i32.const 0)))
