;; One export for each way an Extism guest can behave. Built by
;;   wat2wasm guest.wat -o guest.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_warn" (func $log_warn (param i64)))
  (import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "extism:host/user" "toolquay_capability" (func $capability (param i64) (result i64)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)

  (data (i32.const 32) "it went wrong")                          ;; 13 bytes
  (data (i32.const 64) "{\"url\":\"http://127.0.0.1:1/\"}")      ;; 29
  (data (i32.const 128) "{\"b\":1, \"a\":[2]}")                  ;; 16
  (data (i32.const 160) "greeting")                              ;; 8
  (data (i32.const 192) "\ff\fe")                                ;; 2
  (data (i32.const 224) "\01\00\00\00\34\00\00\00{\"capability\":\"fs.read\",\"args\":{\"path\":\"some file\"}}") ;; 8 + 52

  ;; put copies guest memory to a new block.
  (func $put (param $ptr i32) (param $len i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $len))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
        (call $store_u8
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
          (i32.load8_u (i32.add (local.get $ptr) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $block))

  (func $output (param $ptr i32) (param $len i32)
    (call $output_set (call $put (local.get $ptr) (local.get $len)) (i64.extend_i32_u (local.get $len))))

  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0))

  (func (export "loop") (result i32) (loop $l (br $l)) (i32.const 0))

  (func (export "exit3") (result i32) (call $proc_exit (i32.const 3)) (i32.const 0))

  (func (export "stack") (result i32) (call $deep (i32.const 0)))
  (func $deep (param i32) (result i32) (i32.add (call $deep (local.get 0)) (i32.const 1)))

  (func (export "big") (result i32)
    (call $output_set (call $alloc (i64.const 2097152)) (i64.const 2097152))
    (i32.const 0))

  (func (export "code") (result i32) (i32.const 7))

  (func (export "fail") (result i32)
    (call $error_set (call $put (i32.const 32) (i32.const 13)))
    (i32.const 1))

  (func (export "nothing"))

  (func (export "http") (result i32)
    (drop (call $http_request (call $put (i32.const 64) (i32.const 29)) (i64.const 0)))
    (i32.const 0))

  (func (export "json") (result i32) (call $output (i32.const 128) (i32.const 16)) (i32.const 0))

  (func (export "binary") (result i32) (call $output (i32.const 192) (i32.const 2)) (i32.const 0))

  (func (export "config") (result i32) (local $v i64)
    (local.set $v (call $config_get (call $put (i32.const 160) (i32.const 8))))
    (call $output_set (local.get $v) (call $length (local.get $v)))
    (i32.const 0))

  ;; vars stores more than there is room for.
  (func (export "vars") (result i32)
    (call $var_set (call $put (i32.const 160) (i32.const 8)) (call $alloc (i64.const 2097152)))
    (i32.const 0))

  ;; blocks fills the kernel's memory, and then asks for a capability.
  (func (export "blocks") (result i32) (local $request i64)
    (local.set $request (call $put (i32.const 224) (i32.const 60)))
    (loop $more (br_if $more (i64.ne (call $alloc (i64.const 65000)) (i64.const 0))))
    (drop (call $capability (local.get $request)))
    (i32.const 0))

  ;; ask outputs the answer of one capability call behind its header, which
  ;; need not be text; twice outputs the second of two.
  (func $ask (local $answer i64)
    (local.set $answer (call $capability (call $put (i32.const 224) (i32.const 60))))
    (call $output_set
      (i64.add (local.get $answer) (i64.const 8))
      (i64.sub (call $length (local.get $answer)) (i64.const 8))))
  (func (export "ask") (result i32) (call $ask) (i32.const 0))
  (func (export "twice") (result i32) (call $ask) (call $ask) (i32.const 0))

  (func (export "broken") (result i32)
    (drop (call $capability (call $put (i32.const 32) (i32.const 13))))
    (i32.const 0))

  (func (export "nowhere") (result i32)
    (drop (call $capability (i64.const 987654321)))
    (i32.const 0))

  ;; log_nowhere makes the SDK's log function fail.
  (func (export "log_nowhere") (result i32)
    (call $log_warn (i64.const 987654321))
    (i32.const 0))

  (func (export "takes_one") (param i32) (result i32) (local.get 0)))
